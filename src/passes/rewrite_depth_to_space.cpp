// DepthToSpace and SpaceToDepth become Reshape, Transpose, Reshape: the transpose has a kernel and meets its
// neighbours.
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/replacement.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_depth_to_space",
    .help = "Moves blocks between channels and pixels by one Transpose instead of plain code.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .witness = "depth_to_space",
}};

struct Move {
    std::vector<int64_t> inner, perm, outer;  // shape before the transpose, the transpose, shape after it
};

Move move_of(const Node& node, const Shape& x) {
    const int64_t b = node.attributes.integer("blocksize", 1), n = x[0], c = x[1], h = x[2], w = x[3];
    if (is_op(node, "SpaceToDepth"))
        return {{n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4}, {n, c * b * b, h / b, w / b}};
    const int64_t left = c / (b * b);
    const std::vector<int64_t> outer{n, left, h * b, w * b};
    if (node.attributes.text("mode", "DCR") == "CRD") return {{n, left, b, b, h, w}, {0, 1, 4, 2, 5, 3}, outer};
    return {{n, b, b, left, h, w}, {0, 3, 4, 1, 5, 2}, outer};
}

void rewrite(PassContext& context, const Node& node) {
    const Move move = move_of(node, context.graph.value(node.inputs[0]).shape());
    Replacement build(context, node);
    const ValueId split = build.reshaped(node.inputs[0], move.inner);
    const ValueId turned = build.make("Transpose", {split}, attributes_with({}, "perm", move.perm));
    build.finish("Reshape", {turned, build.integers(move.outer)});
    context.taken(node.origins.front(), node.op);
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        const Node node = context.graph.node(id);
        if (!is_op(node, "DepthToSpace") && !is_op(node, "SpaceToDepth")) return false;
        if (context.graph.value(node.outputs[0]).shape().elements() == 0) return false;
        rewrite(context, node);
        return true;
    });
}

const Pass rewrite_depth_to_space{{
    .name = "rewrite_depth_to_space",
    .help = "Turns DepthToSpace and SpaceToDepth into a Transpose.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
