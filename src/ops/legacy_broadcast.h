// Broadcasting before opset 7, which does not follow from the shapes alone.
#pragma once

#include <functional>
#include <optional>

#include "ops/op.h"

namespace headway {

enum class LegacyBroadcast {
    by_attributes,  // with broadcast = 1 the second operand lies along the axes of the first from `axis` on, by default
                    // along the last ones; without it the shapes are equal
    along_channels,  // PRelu: a slope of rank 1 lies along axis 1
};

std::vector<AttributeDoc> legacy_broadcast_attributes();

// The rule that holds for a node; nothing from opset 7 on and for other operators.
std::optional<LegacyBroadcast> legacy_broadcast(const Node& node);

// The shape under which the second operand broadcasts to the first by today's rule. UserError when it does not fit.
Shape legacy_operand_shape(LegacyBroadcast rule, const Attributes& attributes, const Shape& first, const Shape& second);

// A shape rule or a reference that is given nodes of an old version as if they were of today's.
std::function<void(InferContext&)> infer_with_legacy(LegacyBroadcast rule, std::function<void(InferContext&)> infer);
std::function<void(const ReferenceContext&)> reference_with_legacy(
    LegacyBroadcast rule, std::function<void(const ReferenceContext&)> reference);

}  // namespace headway
