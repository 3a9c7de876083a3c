// What the file of a staged engine holds beside its plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"

namespace headway {

// What an input of a staged engine may be. Its name, kind and type, and symbols shared by extents, stand in the graph.
struct StagedInput {
    bool is_ranked = true;
    std::vector<int64_t> low, high;  // by axis, inclusive; INT64_MAX: no limit
    std::vector<std::byte> fixed_value;
    bool operator==(const StagedInput&) const = default;
};

// An engine whose shapes are known only when it runs (staged/staged_engine.h): the graph itself and how it is divided.
// Its plan has no steps: its constants are the tensors of the graph, its settings those of the compiled parts.
struct StagedPart {
    std::string graph;  // text form (graph/text.h); table(k) is constant k of the plan
    std::vector<StagedInput> inputs;
    int64_t kept_shapes = 0, compile_from = 0;
    Hash parts;  // of what was compiled for the inputs at hand when it was built
};

}  // namespace headway
