#include "ops/legacy_broadcast.h"

#include <algorithm>
#include <array>

namespace headway {
namespace {

constexpr int first_modern_version = 7;

constexpr std::array<std::string_view, 11> ruled_by_attributes{"Add", "And", "Div", "Equal", "Greater", "Less",
                                                               "Mul", "Or",  "Pow", "Sub",   "Xor"};

// `second` with ones around it, so that its axes lie on those of `first` from `axis` on.
Shape laid_along(const Shape& first, const Shape& second, int64_t axis) {
    const auto rank = static_cast<int64_t>(first.rank());
    const auto own = static_cast<int64_t>(second.rank());
    bool fits = axis >= 0 && own <= rank && axis <= rank - own;
    std::vector<int64_t> dims(first.rank(), 1);
    for (int64_t i = 0; fits && i < own; ++i) {
        const auto at = static_cast<size_t>(i);
        dims[static_cast<size_t>(axis + i)] = second[at];
        fits = second[at] == 1 || second[at] == first[static_cast<size_t>(axis + i)];
    }
    if (!fits)
        throw UserError("an operand of " + second.text() + " does not lie along axis " + std::to_string(axis) + " of " +
                        first.text());
    return Shape(std::move(dims));
}

}  // namespace

std::vector<AttributeDoc> legacy_broadcast_attributes() {
    return {{"axis", "int", "the last ones fit", "first axis along which the second operand lies (before opset 7)"},
            {"broadcast", "int", "0", "1: the second operand broadcasts (before opset 7)"}};
}

std::optional<LegacyBroadcast> legacy_broadcast(const Node& node) {
    if (!node.domain.empty() || node.version >= first_modern_version) return std::nullopt;
    if (node.op == "PRelu") return LegacyBroadcast::along_channels;
    if (std::ranges::find(ruled_by_attributes, node.op) == ruled_by_attributes.end()) return std::nullopt;
    return LegacyBroadcast::by_attributes;
}

Shape legacy_operand_shape(LegacyBroadcast rule, const Attributes& attributes, const Shape& first,
                           const Shape& second) {
    const auto last = static_cast<int64_t>(first.rank()) - static_cast<int64_t>(second.rank());
    if (rule == LegacyBroadcast::along_channels) {
        const bool is_vector = second.rank() == 1 && first.rank() > 1;
        return laid_along(first, second, is_vector ? 1 : last);
    }
    if (attributes.integer("broadcast", 0) != 0) {
        int64_t axis = attributes.integer("axis", last);
        if (axis < 0) axis += static_cast<int64_t>(first.rank());
        return laid_along(first, second, axis);
    }
    if (first != second)
        throw UserError("operands of " + first.text() + " and " + second.text() + " differ, and broadcast is not set");
    return second;
}

std::function<void(InferContext&)> infer_with_legacy(LegacyBroadcast rule, std::function<void(InferContext&)> infer) {
    return [rule, infer = std::move(infer)](InferContext& context) {
        if (context.version() >= first_modern_version) return infer(context);
        InferContext modern(
            context.node(),
            {{true, context.type(0), context.shape(0), context.constant(0)},
             {true, context.type(1),
              legacy_operand_shape(rule, context.attributes(), context.shape(0), context.shape(1)), nullptr}});
        infer(modern);
        context.set_output(0, modern.output(0)->type, modern.output(0)->shape);
    };
}

std::function<void(const ReferenceContext&)> reference_with_legacy(
    LegacyBroadcast rule, std::function<void(const ReferenceContext&)> reference) {
    return [rule, reference = std::move(reference)](const ReferenceContext& context) {
        if (context.version >= first_modern_version) return reference(context);
        const Tensor second = context.in(1).reshaped(
            legacy_operand_shape(rule, context.attributes, context.in(0).shape(), context.in(1).shape()));
        const std::array<const Tensor*, 2> inputs{&context.in(0), &second};
        reference({context.attributes, context.version, inputs, context.outputs});
    };
}

}  // namespace headway
