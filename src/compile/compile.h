// build(model, route, target): the one way from an ONNX graph to an engine. Nothing else calls passes and lower.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/kernel.h"
#include "knobs/route.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "runtime/plan.h"

namespace headway {

// All declarations, collected once by main.
struct Catalogue {
    Registry<KnobBase> knobs = declared<KnobBase>();
    Registry<Op> ops = declared<Op>();
    Registry<Pass> passes = declared<Pass>();
    Registry<Kernel> kernels = declared<Kernel>();
};

// What is fixed about the inputs at build time: shapes by input name ("x" -> 1x3x640x640) and values of small integer
// inputs on which `If` conditions depend ("sr" -> 16000).
struct Range {
    int64_t low = 0, high = 0;  // inclusive
};
struct Bindings {
    std::map<std::string, Shape> shapes;
    // Of inputs that stay open: the extents that the engine is for, by axis.
    std::map<std::string, std::vector<Range>> ranges;
    std::map<std::string, Tensor> values;
};

struct Build {
    Plan plan;
    std::vector<Decision> ledger;
    std::vector<std::string> sites;  // all origin names that routes may address
    double seconds = 0;
};

// The graph is an imported one; it is copied. Unsupported/UserError name the node and the reason.
Build build(const Graph& model, const Bindings& bindings, const Route& route, const Target& target,
            const Catalogue& catalogue);

// What the bindings say of the inputs, and no more: extents may stay open, inner shapes are not inferred. UserError
// when they do not fit the model.
Graph bind_inputs(const Graph& model, const Bindings& bindings);

// Inputs bound, shapes inferred, `If`s resolved: the graph that references are computed on. Independent of routes.
Graph bind(const Graph& model, const Bindings& bindings, const Registry<Op>& ops);

// The rest of build(): passes and lowering of a graph whose shapes are all known and that has no sub-graphs. Settings
// of the route at sites that the graph does not have do nothing.
Plan compile_bound(Graph graph, const Route& route, const Target& target, const Catalogue& catalogue,
                   std::vector<Decision>& ledger);

// All origin names of a graph and its sub-graphs that routes may address, sorted.
std::vector<std::string> site_names(const Graph& graph);

// The ledger as JSON text (array of decisions, in order).
std::string ledger_json(const std::vector<Decision>& ledger);

}  // namespace headway
