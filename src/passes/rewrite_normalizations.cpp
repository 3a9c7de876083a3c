// InstanceNormalization and GroupNormalization become LayerNormalization of rows, and LRN an average over channels:
// those have kernels, and the scales around them fuse.
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_normalizations",
    .help = "Computes InstanceNormalization and GroupNormalization by LayerNormalization, and LRN by AveragePool.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "channel_norms",
}};

ValueId reshaped(PassContext& context, ValueId value, const std::vector<int64_t>& dims,
                 const std::vector<std::string>& origins) {
    const ValueId shape = add_integers(context.graph, origins.front() + ".shape", dims);
    return append(context, "Reshape", {value, shape}, {}, origins);
}

// One entry per channel, from one per channel or one per group of channels.
ValueId per_channel(PassContext& context, ValueId entries, const Shape& x, const std::vector<std::string>& origins) {
    const int64_t count = context.graph.value(entries).shape()[0];
    std::vector<int64_t> dims(x.rank() - 1, 1);
    dims[0] = x[1];
    if (count == x[1]) return reshaped(context, entries, dims, origins);
    const ValueId column = reshaped(context, entries, {count, 1}, origins);
    const ValueId wide = add_integers(context.graph, origins.front() + ".channels", {count, x[1] / count});
    return reshaped(context, append(context, "Expand", {column, wide}, {}, origins), dims, origins);
}

void by_rows(PassContext& context, const Node& node, int64_t groups) {
    Graph& graph = context.graph;
    const Shape x = graph.value(node.inputs[0]).shape();
    const int64_t rows = x[0] * groups, length = x.elements() / rows;
    const ValueId flat = reshaped(context, node.inputs[0], {rows, length}, node.origins);
    const ValueId ones = add_floats(graph, node.origins.front() + ".ones", {length},
                                    std::vector<double>(static_cast<size_t>(length), 1.0));
    Attributes attributes = attributes_with({}, "epsilon", node.attributes.real("epsilon", 1e-5F));
    attributes.set("axis", int64_t{-1});
    const ValueId norm = append(context, "LayerNormalization", {flat, ones}, std::move(attributes), node.origins);
    const ValueId back = reshaped(context, norm, x.dims(), node.origins);
    const ValueId scale = per_channel(context, node.inputs[1], x, node.origins);
    const ValueId bias = per_channel(context, node.inputs[2], x, node.origins);
    const ValueId scaled = append(context, "Mul", {back, scale}, {}, node.origins);
    append_as(context, node.outputs[0], "Add", {scaled, bias}, {}, node.origins);
}

// x / (bias + alpha * mean of squares over `size` channels) ^ beta
void by_average(PassContext& context, const Node& node) {
    Graph& graph = context.graph;
    const std::vector<std::string>& origins = node.origins;
    const ValueId x = node.inputs[0];
    const Shape shape = graph.value(x).shape();
    const int64_t size = node.attributes.integer("size", 1), before = (size - 1) / 2;
    const auto number = [&](double value) { return add_floats(graph, origins.front(), {}, {value}); };
    const ValueId squares = append(context, "Mul", {x, x}, {}, origins);
    const ValueId planes =
        reshaped(context, squares, {shape[0], 1, shape[1], shape.elements(2, shape.rank())}, origins);
    Attributes pool = attributes_with({}, "kernel_shape", std::vector<int64_t>{size, 1});
    pool.set("pads", std::vector<int64_t>{before, 0, size - 1 - before, 0});
    pool.set("count_include_pad", int64_t{1});
    const ValueId mean =
        reshaped(context, append(context, "AveragePool", {planes}, pool, origins), shape.dims(), origins);
    const ValueId scaled = append(context, "Mul", {mean, number(node.attributes.real("alpha", 1e-4F))}, {}, origins);
    const ValueId sum = append(context, "Add", {scaled, number(node.attributes.real("bias", 1.0F))}, {}, origins);
    const ValueId power = append(context, "Pow", {sum, number(node.attributes.real("beta", 0.75F))}, {}, origins);
    append_as(context, node.outputs[0], "Div", {x, power}, {}, origins);
}

bool rewrite(PassContext& context, const Node& node) {
    const Value& x = context.graph.value(node.inputs[0]);
    if (x.type != ElementType::f32 || x.shape().elements() == 0) return false;
    if (is_op(node, "InstanceNormalization"))
        by_rows(context, node, x.shape()[1]);
    else if (is_op(node, "GroupNormalization"))
        by_rows(context, node, node.attributes.integer("num_groups", 1));
    else if (is_op(node, "LRN"))
        by_average(context, node);
    else
        return false;
    context.taken(node.origins.front(), node.op);
    return true;
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        const Node node = context.graph.node(id);
        return input_of(node, 0) != no_value && rewrite(context, node);
    });
}

const Pass rewrite_normalizations{{
    .name = "rewrite_normalizations",
    .help = "Turns normalisations of channels into those that have kernels.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
