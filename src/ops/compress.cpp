#include <algorithm>

#include "ops/arguments.h"
#include "ops/rows.h"

namespace headway {
namespace {

// The input as lines of the axis; without one, as a single line.
Lines compress_lines(const Attributes& attributes, const Shape& shape) {
    if (!attributes.has("axis")) return {1, shape.elements(), 1};
    return Lines::along(shape, static_cast<size_t>(axis_of(attributes, 0, shape.rank())));
}

std::vector<int64_t> kept_positions(const Tensor& condition, int64_t length) {
    std::vector<int64_t> kept;
    const std::vector<int64_t> flags = condition.to_int64();
    for (size_t i = 0; i < flags.size() && static_cast<int64_t>(i) < length; ++i)
        if (flags[i] != 0) kept.push_back(static_cast<int64_t>(i));
    return kept;
}

void infer_compress(InferContext& context) {
    if (context.type(1) != ElementType::boolean) throw UserError("its condition is not boolean");
    Shape shape = context.shape(0);
    const int64_t length = compress_lines(context.attributes(), shape).length;
    const auto kept = static_cast<int64_t>(kept_positions(context.required(1, "its condition"), length).size());
    if (!context.attributes().has("axis"))
        shape = Shape{kept};
    else
        shape[static_cast<size_t>(axis_of(context.attributes(), 0, shape.rank()))] = kept;
    context.set_output(0, context.type(0), shape);
}

void compress_reference(const ReferenceContext& context) {
    const Lines lines = compress_lines(context.attributes, context.in(0).shape());
    const int64_t chunk = lines.inner * static_cast<int64_t>(size_of(context.in(0).type()));
    const std::vector<int64_t> kept = kept_positions(context.in(1), lines.length);
    const std::byte* from = context.in(0).bytes().data();
    std::byte* to = context.out(0).mutable_bytes().data();
    for (int64_t outer = 0; outer < lines.outer; ++outer)
        for (int64_t position : kept) to = std::copy_n(from + (outer * lines.length + position) * chunk, chunk, to);
}

}  // namespace

const Op compress_op{{
    .name = "Compress",
    .since = {9, 11},
    .inputs = {2, 2},
    .types = fixed_size_types | string_type,
    .attributes = {{"axis", "int", "flattened", "the axis to select from"}},
    .infer = infer_compress,
    .reference = compress_reference,
    .data_movement = true,
    .help = "Slices where the condition is true; it must be known when the model is built.",
}};

}  // namespace headway
