// A stride-2 convolution of few channels reads its input as 2x2 blocks: four times the channels at half the size,
// stride 1.
#include <cmath>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_space_to_depth_stem",
    .help = "Turns a stride-2 convolution of few channels into a stride-1 one over 2x2 blocks.",
    .family = "rewrite",
    .values = {"off", "on"},
    .numerics = Numerics::reorders,
    .witness = "stem",
}};

const Knob<int64_t> max_channels{{
    .name = "rewrite_space_to_depth_stem.max_channels",
    .help = "Most input channels of a convolution that is rewritten so. Three or four are images; 12 and 16 are maps "
            "that a first layer has thinned out, whose four-fold channels fill wide vectors.",
    .family = "rewrite",
    .values = {4, 1, 3, 8, 16},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "stem",
    .witness_route = "rewrite_space_to_depth_stem=on",
}};

constexpr int64_t block = 2;

// One spatial axis of the convolution, before and after.
struct AxisPlan {
    int64_t pad_begin, pad_end;  // after
    int64_t kernel;              // after
    int64_t first_block;         // block of the first tap, relative to the output position
};

std::optional<AxisPlan> plan_axis(int64_t input, int64_t output, int64_t kernel, int64_t pad) {
    const auto block_of = [](int64_t position) {
        return static_cast<int64_t>(std::floor(static_cast<double>(position) / static_cast<double>(block)));
    };
    AxisPlan plan{};
    plan.first_block = block_of(-pad);
    plan.kernel = block_of(kernel - 1 - pad) - plan.first_block + 1;
    plan.pad_begin = -plan.first_block;
    plan.pad_end = output - input / block - plan.pad_begin + plan.kernel - 1;
    if (input % block != 0 || plan.pad_begin < 0 || plan.pad_end < 0) return std::nullopt;
    return plan;
}

Tensor blocked_weights(const Tensor& weights, const AxisPlan& rows, const AxisPlan& columns, int64_t top,
                       int64_t left) {
    const Shape& old = weights.shape();
    Tensor result(ElementType::f32, {old[0], old[1] * block * block, rows.kernel, columns.kernel});
    const auto from = weights.data<float>();
    const auto to = result.mutable_data<float>();
    size_t at = 0;
    for (int64_t o = 0; o < old[0]; ++o)
        for (int64_t y = 0; y < old[2]; ++y)
            for (int64_t x = 0; x < old[3]; ++x) {
                const int64_t row = y - top - rows.first_block * block, column = x - left - columns.first_block * block;
                const int64_t phase = row % block * block + column % block;
                for (int64_t c = 0; c < old[1]; ++c) {
                    at = static_cast<size_t>(((o * old[1] + c) * old[2] + y) * old[3] + x);
                    const int64_t channel = phase * old[1] + c;
                    const int64_t index =
                        ((o * old[1] * block * block + channel) * rows.kernel + row / block) * columns.kernel +
                        column / block;
                    to[static_cast<size_t>(index)] = from[at];
                }
            }
    return result;
}

Verdict rewrite(PassContext& context, NodeId id) {
    Graph& graph = context.graph;
    const Node node = graph.node(id);
    const Tensor* weights = known(graph, input_of(node, 1));
    if (!weights || weights->type() != ElementType::f32) return Verdict::no(Reason::needs_constant, "weights");
    const Shape in = graph.value(node.inputs[0]).shape(), out = graph.value(node.outputs[0]).shape();
    if (in.rank() != 4) return Verdict::no(Reason::shape, "not an image");
    if (in[1] > context.route.get(max_channels, node.origins))
        return Verdict::no(Reason::knob, "rewrite_space_to_depth_stem.max_channels");
    const Attributes& attributes = node.attributes;
    std::vector<int64_t> pads = attributes.integers("pads", {0, 0, 0, 0});
    const bool plain = attributes.text("auto_pad", "NOTSET") == "NOTSET" && attributes.integer("group", 1) == 1 &&
                       attributes.integers("dilations", {1, 1}) == std::vector<int64_t>{1, 1};
    if (!plain || attributes.integers("strides", {1, 1}) != std::vector<int64_t>{block, block})
        return Verdict::no(Reason::attribute, "stride, group, dilation or auto_pad");
    const auto rows = plan_axis(in[2], out[2], weights->shape()[2], pads[0]);
    const auto columns = plan_axis(in[3], out[3], weights->shape()[3], pads[1]);
    if (!rows || !columns) return Verdict::no(Reason::shape, "odd extent, or padding");
    Tensor regrouped = blocked_weights(*weights, *rows, *columns, pads[0], pads[1]);
    Attributes blocks;
    blocks.set("blocksize", block);
    const ValueId packed = append(context, "SpaceToDepth", {node.inputs[0]}, std::move(blocks), node.origins);
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = graph.add_constant(graph.value(inputs[1]).name, std::move(regrouped));
    inputs[0] = packed;
    Attributes conv;
    conv.set("pads", std::vector<int64_t>{rows->pad_begin, columns->pad_begin, rows->pad_end, columns->pad_end});
    append_as(context, node.outputs[0], "Conv", std::move(inputs), std::move(conv), node.origins);
    return Verdict::yes();
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        if (!is_op(context.graph.node(id), "Conv")) return false;
        const std::string site = site_of(context.graph, id);
        return context.decided(site, "space_to_depth", rewrite(context, id));
    });
}

const Pass rewrite_space_to_depth_stem{{
    .name = "rewrite_space_to_depth_stem",
    .help = "Turns stride-2 stems into stride-1 convolutions over 2x2 blocks.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
