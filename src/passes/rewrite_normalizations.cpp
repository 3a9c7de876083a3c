// InstanceNormalization and GroupNormalization become LayerNormalization of rows, and LRN an average over channels:
// those have kernels, and the scales around them fuse.
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/replacement.h"

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

// One entry per channel, from one per channel or one per group of channels.
ValueId per_channel(Replacement& build, ValueId entries, const Shape& x) {
    const int64_t count = build.graph().value(entries).shape()[0];
    std::vector<int64_t> dims(x.rank() - 1, 1);
    dims[0] = x[1];
    if (count == x[1]) return build.reshaped(entries, dims);
    const ValueId column = build.reshaped(entries, {count, 1});
    const ValueId wide = build.make("Expand", {column, build.integers({count, x[1] / count})});
    return build.reshaped(wide, dims);
}

void by_rows(Replacement& build, int64_t groups) {
    const Node& node = build.node();
    const Shape x = build.graph().value(node.inputs[0]).shape();
    const int64_t rows = x[0] * groups, length = x.elements() / rows;
    const ValueId flat = build.reshaped(node.inputs[0], {rows, length});
    const ValueId ones = add_floats(build.graph(), node.origins.front() + ".ones", {length},
                                    std::vector<double>(static_cast<size_t>(length), 1.0));
    Attributes attributes = attributes_with({}, "epsilon", node.attributes.real("epsilon", 1e-5F));
    attributes.set("axis", int64_t{-1});
    const ValueId norm = build.make("LayerNormalization", {flat, ones}, std::move(attributes));
    const ValueId back = build.reshaped(norm, x.dims());
    const ValueId scale = per_channel(build, node.inputs[1], x), bias = per_channel(build, node.inputs[2], x);
    build.finish("Add", {build.make("Mul", {back, scale}), bias});
}

// x / (bias + alpha * mean of squares over `size` channels) ^ beta
void by_average(Replacement& build) {
    const Node& node = build.node();
    const ValueId x = node.inputs[0];
    const Shape shape = build.graph().value(x).shape();
    const int64_t size = node.attributes.integer("size", 1), before = (size - 1) / 2;
    const ValueId squares = build.make("Mul", {x, x});
    const ValueId planes = build.reshaped(squares, {shape[0], 1, shape[1], shape.elements(2, shape.rank())});
    Attributes pool = attributes_with({}, "kernel_shape", std::vector<int64_t>{size, 1});
    pool.set("pads", std::vector<int64_t>{before, 0, size - 1 - before, 0});
    pool.set("count_include_pad", int64_t{1});
    const ValueId mean = build.reshaped(build.make("AveragePool", {planes}, std::move(pool)), shape.dims());
    const ValueId scaled = build.make("Mul", {mean, build.number(node.attributes.real("alpha", 1e-4F))});
    const ValueId sum = build.make("Add", {scaled, build.number(node.attributes.real("bias", 1.0F))});
    build.finish("Div", {x, build.make("Pow", {sum, build.number(node.attributes.real("beta", 0.75F))})});
}

bool rewrite(PassContext& context, const Node& node) {
    const Value& x = context.graph.value(node.inputs[0]);
    if (x.type != ElementType::f32 || x.shape().elements() == 0) return false;
    Replacement build(context, node);
    if (is_op(node, "InstanceNormalization"))
        by_rows(build, x.shape()[1]);
    else if (is_op(node, "GroupNormalization"))
        by_rows(build, node.attributes.integer("num_groups", 1));
    else if (is_op(node, "LRN"))
        by_average(build);
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
