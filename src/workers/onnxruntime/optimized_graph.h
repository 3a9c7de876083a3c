// What ONNX Runtime made of a model, read from the file that it writes: enough to tell two engines apart. The order of
// independent nodes and the names of values inside the graph come out differently each time, so neither counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/hash.h"

namespace headway::ort {

struct OptimizedGraph {
    Hash content;                              // nodes, how they hang together, constants
    Hash structure;                            // the same without the values of constants of more than 64 bytes
    std::map<std::string, int64_t> operators;  // "Conv", "com.microsoft.nchwc.Conv" -> nodes, of sub-graphs too
};

// UserError when the file is no ONNX model.
OptimizedGraph read_optimized_graph(const std::string& path);

}  // namespace headway::ort
