// The knobs of ONNX Runtime: everything that its session options offer on a CPU and that may change speed. The first
// value is its own default, but for the threads.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workers/builder.h"

namespace headway::ort {

// An option that is a key and a value in the session's configuration (onnxruntime_session_options_config_keys.h).
struct ConfigKnob {
    const char* name;
    const char* key;
    std::vector<std::pair<const char*, const char*>>
        values;  // our word, its value; the first is what an absent key means
    const char* family;
    const char* numerics;
    // Where it can act: in the optimised graph, on every run, when operators run on several threads, when nodes do, or
    // in kernels of one operator.
    enum class Acts { in_graph, at_run, with_threads, with_parallel_nodes, in_operator } acts;
    const char* op;  // for in_operator, as "domain.Operator"
    const char* help;
};
std::span<const ConfigKnob> config_knobs();

// A graph optimiser that can be switched off by name: `optimizer.NAME`.
struct OptimizerKnob {
    const char* name;
    const char* numerics;
    const char* help;
};
std::span<const OptimizerKnob> optimizer_knobs();

// All knobs for a ceiling of threads and for variants, by the names of their files.
std::vector<KnobDescription> describe_knobs(int ceiling, std::span<const std::string> variants);

}  // namespace headway::ort
