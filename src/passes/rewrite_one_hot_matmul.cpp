// A product of a spelled-out one-hot encoding, Cast(indices == 0..n-1), with a constant matrix is a look-up of its
// rows. Indices outside 0..n-1 encode as zeros, so the table gets a row of zeros at each end, to which they are
// clipped.
#include <algorithm>
#include <cmath>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_one_hot_matmul",
    .help = "Turns the product of a one-hot encoding and a constant matrix into a look-up.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .witness = "one_hot_matmul",
}};

// Whether the constant counts 0, 1, 2, ... along its last axis, `count` long, and has no other extent.
bool counts_up(const Graph& graph, ValueId value, int64_t count) {
    const auto numbers = known_integers(graph, value);
    if (!numbers || static_cast<int64_t>(numbers->size()) != count) return false;
    if (graph.value(value).shape().rank() == 0 || graph.value(value).shape().back() != count) return false;
    for (size_t i = 0; i < numbers->size(); ++i)
        if ((*numbers)[i] != static_cast<int64_t>(i)) return false;
    return true;
}

// The indices that the value is the one-hot encoding of, as a value whose last extent is 1; no_value for anything else.
ValueId encoded_indices(const Graph& graph, ValueId value, int64_t count, std::vector<NodeId>& nodes) {
    const NodeId cast = made_by(graph, value, "Cast");
    if (cast == no_node) return no_value;
    const NodeId equal = made_by(graph, graph.node(cast).inputs[0], "Equal");
    if (equal == no_node) return no_value;
    nodes = {cast, equal};
    const Node& node = graph.node(equal);
    const size_t rank = graph.value(value).shape().rank();
    for (size_t i : {0, 1}) {
        const ValueId indices = node.inputs[i];
        const Value& source = graph.value(indices);
        const bool integers = source.type == ElementType::i32 || source.type == ElementType::i64;
        if (!integers || !counts_up(graph, node.inputs[1 - i], count)) continue;
        const Shape shape = source.shape();
        Shape expected = graph.value(value).shape();
        expected[rank - 1] = 1;
        if (shape == expected) return indices;
    }
    return no_value;
}

ValueId integer_scalar(Graph& graph, ElementType type, int64_t value) {
    Tensor tensor(type, Shape{});
    tensor.set(0, static_cast<double>(value));
    return graph.add_constant("number", std::move(tensor));
}

// The table between two rows of zeros.
ValueId framed_table(Graph& graph, ValueId weights) {
    const Tensor& table = *known(graph, weights);
    const int64_t rows = table.shape()[0], columns = table.shape()[1];
    Tensor framed(ElementType::f32, {rows + 2, columns});
    std::ranges::copy(table.data<float>(), framed.mutable_data<float>().begin() + columns);
    return graph.add_constant(graph.value(weights).name, std::move(framed));
}

Verdict rewrite(PassContext& context, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    const Tensor* weights = known(graph, node.inputs[1]);
    if (!weights || weights->type() != ElementType::f32 || weights->shape().rank() != 2)
        return Verdict::no(Reason::pattern, "");
    std::vector<NodeId> nodes;
    const int64_t count = weights->shape()[0];
    const ValueId indices = encoded_indices(graph, node.inputs[0], count, nodes);
    if (indices == no_value) return Verdict::no(Reason::pattern, "");
    // Zero times infinity is NaN in the product, but not in the look-up.
    if (!std::ranges::all_of(weights->data<float>(), [](float x) { return std::isfinite(x); }))
        return Verdict::no(Reason::accuracy, "the matrix is not finite");
    nodes.insert(nodes.begin(), id);
    const std::vector<std::string> origins = merged_origins(graph, nodes);
    const ElementType type = graph.value(indices).type;
    std::vector<int64_t> extents = graph.value(indices).shape().dims();
    extents.pop_back();
    const ValueId flat = append(context, "Reshape", {indices, add_integers(graph, "shape", extents)}, {}, origins);
    const ValueId inside = append(
        context, "Clip", {flat, integer_scalar(graph, type, -1), integer_scalar(graph, type, count)}, {}, origins);
    const ValueId row = append(context, "Add", {inside, integer_scalar(graph, type, 1)}, {}, origins);
    append_as(context, node.outputs[0], "Gather", {framed_table(graph, node.inputs[1]), row}, {}, origins);
    return Verdict::yes();
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_op(graph.node(id), "MatMul")) return false;
        const std::string site = site_of(graph, id);
        const Verdict verdict = rewrite(context, id);
        return verdict.reason != Reason::pattern && context.decided(site, "Gather", verdict);
    });
}

const Pass rewrite_one_hot_matmul{{
    .name = "rewrite_one_hot_matmul",
    .help = "Turns products of one-hot encodings into look-ups.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
