#include <algorithm>

#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

struct SequenceAxes {
    size_t batch, time;
};

SequenceAxes sequence_axes(const Attributes& attributes) {
    const int64_t batch = attributes.integer("batch_axis", 1);
    const int64_t time = attributes.integer("time_axis", 0);
    if (batch + time != 1 || batch * time != 0)
        throw UserError("batch_axis and time_axis must be 0 and 1, in either order");
    return {static_cast<size_t>(batch), static_cast<size_t>(time)};
}

void infer_reverse_sequence(InferContext& context) {
    const SequenceAxes axes = sequence_axes(context.attributes());
    const Shape& shape = context.shape(0);
    if (shape.rank() < 2 || context.shape(1) != Shape{shape[axes.batch]})
        throw UserError("sequence_lens does not fit its input");
    if (context.type(1) != ElementType::i64) throw UserError("sequence_lens is not i64");
    infer_same(context);
}

void reverse_sequence_reference(const ReferenceContext& context) {
    const SequenceAxes axes = sequence_axes(context.attributes);
    const Shape& shape = context.in(0).shape();
    const Strides strides = shape.strides();
    const int64_t chunk = shape.elements(2, shape.rank());
    const auto element = static_cast<int64_t>(size_of(context.in(0).type()));
    const std::vector<int64_t> lengths = context.in(1).to_int64();
    const std::byte* x = context.in(0).bytes().data();
    std::byte* y = context.out(0).mutable_bytes().data();
    for (int64_t sequence = 0; sequence < shape[axes.batch]; ++sequence) {
        const int64_t length = lengths[static_cast<size_t>(sequence)];
        if (length < 0 || length > shape[axes.time]) throw UserError("a sequence length is " + std::to_string(length));
        for (int64_t step = 0; step < shape[axes.time]; ++step) {
            const int64_t from = step < length ? length - 1 - step : step;
            const int64_t base = sequence * strides[axes.batch];
            std::copy_n(x + (base + from * strides[axes.time]) * element, chunk * element,
                        y + (base + step * strides[axes.time]) * element);
        }
    }
}

}  // namespace

const Op reverse_sequence_op{{
    .name = "ReverseSequence",
    .since = {10},
    .inputs = {2, 2},
    .types = fixed_size_types | string_type,
    .attributes = {{"batch_axis", "int", "1", "axis of the sequences"},
                   {"time_axis", "int", "0", "axis that is reversed"}},
    .infer = infer_reverse_sequence,
    .reference = reverse_sequence_reference,
    .data_movement = true,
    .help = "The first steps of each sequence in reverse order.",
}};

}  // namespace headway
