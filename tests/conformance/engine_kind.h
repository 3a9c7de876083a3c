// The ways to run a model that the driver compares with ONNX's outputs. A new way is one more entry.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "tensor/datum.h"

namespace headway::conformance {

struct EngineKind {
    std::string name;
    std::string list;  // which lists say what does not pass: the name of the engine that runs just as much
    // Outputs in the order of the graph's. Unsupported when this way cannot run the model, naming why.
    std::vector<Datum> (*run)(const Graph& model, std::span<const Datum> inputs, const Catalogue& catalogue);
};

// `interpreter`: the operators' references, node by node. `native`: an engine built along the default route for the
// shapes of the inputs. `staged`: an engine of open shapes along the default route, which runs everything the
// interpreter does.
const std::vector<EngineKind>& engine_kinds();
// UserError for an unknown name.
const EngineKind& engine_kind(const std::string& name);

}  // namespace headway::conformance
