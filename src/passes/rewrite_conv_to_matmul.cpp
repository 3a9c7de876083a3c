// A 1x1 convolution over plain NCHW is a product of its weights with the image seen as a matrix of pixels.
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_conv_to_matmul",
    .help = "Turns 1x1 convolutions into matrix products over the pixels.",
    .family = "rewrite",
    .values = {"off", "on"},
    .numerics = Numerics::reorders,
    .witness = "conv_1x1",
}};

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
    for (int64_t value : values)
        if (value != wanted) return false;
    return true;
}

Verdict rewrite(PassContext& context, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    const Tensor* weights = known(graph, input_of(node, 1));
    if (!weights || weights->type() != ElementType::f32) return Verdict::no(Reason::needs_constant, "weights");
    const Shape in = graph.value(node.inputs[0]).shape(), out = graph.value(node.outputs[0]).shape();
    if (weights->shape().elements(2, weights->shape().rank()) != 1)
        return Verdict::no(Reason::shape, "kernel is not 1x1");
    if (node.attributes.integer("group", 1) != 1 || !all_are(node.attributes.integers("strides"), 1) ||
        !all_are(node.attributes.integers("pads"), 0))
        return Verdict::no(Reason::attribute, "group, stride or pads");
    const Tensor* bias = known(graph, input_of(node, 2));
    if (input_of(node, 2) != no_value && !bias) return Verdict::no(Reason::needs_constant, "bias");
    // Adding values moves those that are there: no pointer into the graph is held from here on.
    const Tensor rows = weights->reshaped({out[1], in[1]});
    const std::optional<Tensor> column = bias ? std::optional(bias->reshaped({out[1], 1})) : std::nullopt;
    const int64_t pixels = in.elements(2, in.rank());
    const auto reshaped = [&](ValueId value, std::vector<int64_t> shape) {
        return append(context, "Reshape", {value, add_integers(graph, "shape", shape)}, {}, node.origins);
    };
    const ValueId matrix = graph.add_constant(graph.value(node.inputs[1]).name, rows);
    ValueId result =
        append(context, "MatMul", {matrix, reshaped(node.inputs[0], {in[0], in[1], pixels})}, {}, node.origins);
    if (column) {
        const ValueId shift = graph.add_constant(graph.value(node.inputs[2]).name, *column);
        result = append(context, "Add", {result, shift}, {}, node.origins);
    }
    append_as(context, node.outputs[0], "Reshape", {result, add_integers(graph, "shape", out.dims())}, {},
              node.origins);
    return Verdict::yes();
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        if (!is_op(context.graph.node(id), "Conv")) return false;
        const std::string site = site_of(context.graph, id);
        return context.decided(site, "MatMul", rewrite(context, id));
    });
}

const Pass rewrite_conv_to_matmul{{
    .name = "rewrite_conv_to_matmul",
    .help = "Turns 1x1 convolutions into matrix products.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
