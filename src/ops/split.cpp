#include <algorithm>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/first_forms.h"
#include "ops/strided.h"

namespace headway {
namespace {

// Given lengths, or equal parts of which the last may be smaller.
std::vector<int64_t> split_lengths(const OptionalIntegers& given, int64_t extent, size_t outputs) {
    std::vector<int64_t> lengths;
    if (given) {
        lengths = *given;
        require_length(lengths, outputs, "split");
        int64_t total = 0;
        for (int64_t length : lengths) total = checked_add(total, length, "split");
        if (total != extent)
            throw UserError("split adds up to " + std::to_string(total) + ", not " + std::to_string(extent));
        return lengths;
    }
    const int64_t part = ceil_div(extent, static_cast<int64_t>(outputs));
    for (size_t i = 0; i < outputs; ++i)
        lengths.push_back(std::clamp(extent - static_cast<int64_t>(i) * part, int64_t{0}, part));
    return lengths;
}

// The first version has the lengths as an input of the type of the data.
template <class Context>
OptionalIntegers given_split_lengths(const Context& context, int version, const Tensor* operand) {
    if (version < 2 && operand != nullptr) return whole_numbers(*operand, "split");
    return integers_of(context, 1, "split");
}

void infer_split(InferContext& context) {
    const Shape& shape = context.shape(0);
    const auto axis = static_cast<size_t>(axis_of(context.attributes(), 0, shape.rank()));
    const auto outputs = static_cast<int64_t>(context.output_count());
    if (context.attributes().integer("num_outputs", outputs) != outputs)
        throw UserError("attribute num_outputs differs from its number of outputs");
    const OptionalIntegers given =
        given_split_lengths(context, context.version(), context.has(1) ? &context.required(1, "split") : nullptr);
    if (!given && context.version() < 18 && shape[axis] % outputs != 0)
        throw UserError("axis of " + std::to_string(shape[axis]) + " does not split evenly into " +
                        std::to_string(outputs));
    const std::vector<int64_t> lengths = split_lengths(given, shape[axis], context.output_count());
    for (size_t i = 0; i < lengths.size(); ++i) {
        Shape part = shape;
        part[axis] = lengths[i];
        context.set_output(i, context.type(0), part);
    }
}

void split_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Strides from = shape.strides();
    const auto axis = static_cast<size_t>(axis_of(context.attributes, 0, shape.rank()));
    const std::vector<int64_t> lengths =
        split_lengths(given_split_lengths(context, context.version, context.has(1) ? &context.in(1) : nullptr),
                      shape[axis], context.outputs.size());
    int64_t start = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (context.wants(i)) {
            const Shape& part = context.out(i).shape();
            strided_copy(context.in(0), start * from[axis], from, context.out(i), 0, part.strides(), part);
        }
        start += lengths[i];
    }
}

}  // namespace

const Op split_op{{
    .name = "Split",
    .since = {1, 2, 11, 13, 18},
    .inputs = {1, 2},
    .outputs = {1, any_number},
    .types = any_types,
    .attributes = {{"axis", "int", "0", "the axis to cut"},
                   {"split", "ints", "equal parts", "length of each part (an input in opset 1 and from 13 on)"},
                   {"num_outputs", "int", "", "number of parts, the last may be shorter (opset 18)"}},
    .infer = infer_split,
    .reference = split_reference,
    .data_movement = true,
    .help = "Cuts a tensor into parts along one axis.",
}};

}  // namespace headway
