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
struct Bindings {
    std::map<std::string, Shape> shapes;
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

// Inputs bound, shapes inferred, `If`s resolved: the graph that references are computed on. Independent of routes.
Graph bind(const Graph& model, const Bindings& bindings, const Registry<Op>& ops);

// All origin names of a graph that routes may address, sorted.
std::vector<std::string> site_names(const Graph& graph);

// The ledger as JSON text (array of decisions, in order).
std::string ledger_json(const std::vector<Decision>& ledger);

}  // namespace headway
