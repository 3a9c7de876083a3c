// What a route means to ONNX Runtime: session options, ready to be applied through the C interface or written out as
// code.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workers/builder.h"
#include "workers/onnxruntime/api.h"
#include "workers/onnxruntime/session.h"

namespace headway::ort {

struct Options {
    int graph_level = 99;  // GraphOptimizationLevel; the name is that of `graph.level`
    int intra_threads = 1;
    int inter_threads = 0;  // 0: nodes run one after the other
    bool arena = true, pattern = true, flush_denormals = false;
    std::vector<std::pair<std::string, int64_t>> free_dimensions;  // by symbol
    std::vector<std::pair<std::string, std::string>> config;       // key, value; those that differ from the default
};

// `settings` holds the value of every knob. UserError for a name or value that no knob has: recipes are not trusted.
// `ports` and `shapes` tell which extents `graph.free_dimensions=bound` fixes.
Options read_options(const std::map<std::string, std::string>& settings, std::span<const PortInfo> ports,
                     std::span<const PortDescription> shapes);

Handle<SessionOptions> apply(const Options& options);

// The settings that act when the engine runs and leave no trace in the optimised graph, as text: with the graph they
// are what an engine does. `has_operator` tells which operators the optimised graph holds.
std::string run_time_text(const std::map<std::string, std::string>& settings,
                          const std::map<std::string, int64_t>& operators);

}  // namespace headway::ort
