#include <algorithm>

#include "ops/arguments.h"

namespace headway {
namespace {

struct AxisRange {
    int64_t begin, end;
};

AxisRange shape_range(const Attributes& attributes, const Shape& shape) {
    const auto rank = static_cast<int64_t>(shape.rank());
    const auto clamped = [&](int64_t axis) { return std::clamp(axis < 0 ? axis + rank : axis, int64_t{0}, rank); };
    const int64_t begin = clamped(attributes.integer("start", 0));
    return {begin, std::max(begin, clamped(attributes.integer("end", rank)))};
}

void infer_shape(InferContext& context) {
    const AxisRange range = shape_range(context.attributes(), context.shape(0));
    context.set_output(0, ElementType::i64, Shape{range.end - range.begin});
}

void shape_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const AxisRange range = shape_range(context.attributes, shape);
    std::copy(shape.begin() + range.begin, shape.begin() + range.end, context.out(0).mutable_data<int64_t>().begin());
}

}  // namespace

const Op shape_op{{
    .name = "Shape",
    .since = {1, 13, 15, 19, 21, 23, 24, 25},
    .types = any_types,
    .attributes = {{"start", "int", "0", "first axis to report (opset 15)"},
                   {"end", "int", "rank", "axis before which to stop (opset 15)"}},
    .infer = infer_shape,
    .reference = shape_reference,
    .help = "The extents of its input.",
}};

}  // namespace headway
