// Operands that ONNX moved from attributes to inputs between versions (axes, pads, split ...), and axes and indices
// that come from a model: read in one way by shape rules and references, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op.h"

namespace headway {

using OptionalIntegers = std::optional<std::vector<int64_t>>;

// From input `index` where it is present, else from the attribute; nothing when neither is given.
OptionalIntegers integers_of(const InferContext& context, size_t index, const char* name);
OptionalIntegers integers_of(const ReferenceContext& context, size_t index, const char* name);

// Each in [-rank, rank), made non-negative; UserError otherwise and for an axis that stands twice. Order is kept.
std::vector<int64_t> normalized_axes(const std::vector<int64_t>& axes, size_t rank);

// One flag per axis of `rank`.
std::vector<bool> axis_flags(const std::vector<int64_t>& axes, size_t rank);

// In [-extent, extent), made non-negative; UserError otherwise.
int64_t checked_index(int64_t index, int64_t extent);

// The axis attribute (or its default) made non-negative.
int64_t axis_of(const Attributes& attributes, int64_t fallback, size_t rank);

// UserError unless the attribute or operand has as many entries as wanted.
void require_length(const std::vector<int64_t>& values, size_t wanted, const char* name);

// One-element input as a number; UserError when it has more.
double scalar_of(const Tensor& tensor, const char* name);

// The element type that an attribute names by its number in ONNX; Unsupported when it is not among the allowed ones.
ElementType type_of(const Attributes& attributes, const char* name, ElementType fallback, TypeSet allowed);

// Input 0's bytes into output 0, whatever the shapes: the reference of Identity, Reshape and their kin.
void copy_reference(const ReferenceContext& context);

}  // namespace headway
