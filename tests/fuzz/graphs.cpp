#include "graphs.h"

#include <algorithm>

#include "base/error.h"
#include "base/limits.h"
#include "ops/op.h"
#include "ops/work.h"
#include "runtime/engine.h"

namespace headway::fuzz {
namespace {

constexpr int64_t most_nodes = 60;
constexpr int64_t most_work = int64_t{1} << 22;  // of references

// Kernels take as long as references where a node is as large as this or larger.
void require_small(const Graph& graph) {
    int64_t work = 0, bytes = 0;
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        for (ValueId output : graph.node(id).outputs)
            if (output != no_value && !graph.value(output).has_static_shape()) throw UserError("an unknown shape");
        work += std::min(building_work(graph, graph.node(id)), most_work);
    }
    for (ValueId id = 0; id < graph.value_count(); ++id) {
        const Value& value = graph.value(id);
        if (value.has_static_shape())
            bytes += std::min(TensorDesc{value.type, value.shape(), Layout::plain}.bytes(), limits().memory);
    }
    if (work >= most_work || bytes >= limits().memory) throw UserError("too large for a fuzz run");
}

}  // namespace

const Catalogue& catalogue() {
    static const Catalogue everything;
    return everything;
}

Bindings small_bindings(const Graph& graph) {
    Bindings bindings;
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        if (value.kind != DeclaredKind::tensor || size_of(value.type) == 0) throw UserError("no tensor of numbers");
        std::vector<int64_t> dims;
        if (value.dims)
            for (const Dim& dim : *value.dims) dims.push_back(dim.known() ? dim.extent : 2);
        bindings.shapes[value.name] = Shape(dims);
    }
    return bindings;
}

std::vector<Tensor> small_inputs(const Graph& graph, const Bindings& bindings) {
    std::vector<Tensor> inputs;
    for (ValueId id : graph.inputs) {
        Tensor tensor(graph.value(id).type, bindings.shapes.at(graph.value(id).name));
        for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(i % 3));
        inputs.push_back(std::move(tensor));
    }
    return inputs;
}

void interpret_graph(const Graph& graph) {
    if (graph.node_count() > most_nodes) return;
    interpret_data(
        graph,
        [&] {
            const std::vector<Tensor> inputs = small_inputs(graph, small_bindings(graph));
            return std::vector<Datum>(inputs.begin(), inputs.end());
        }(),
        catalogue().ops);
}

void build_and_run(const Graph& graph) {
    if (graph.node_count() > most_nodes) return;
    const Target target = Target::parse("isa=avx2 threads=1");
    const Bindings bindings = small_bindings(graph);
    require_small(bind(graph, bindings, catalogue().ops));
    EngineInfo info;
    info.target = target.text();
    Build built = build(graph, bindings, Route(), target, catalogue());
    Context(Engine::make(std::move(built.plan), info, catalogue().kernels)).run(small_inputs(graph, bindings));
}

}  // namespace headway::fuzz
