#include <algorithm>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/stacking.h"

namespace headway {
namespace {

// A scalar is the length of every part but the last, which may be shorter; a vector lists the lengths; by default 1.
std::vector<int64_t> sequence_part_lengths(const InterpretContext& context, int64_t extent) {
    int64_t part = 1;
    if (context.has(1)) {
        std::vector<int64_t> given = context.tensor(1).to_int64();
        if (context.tensor(1).shape().rank() > 0) {
            int64_t total = 0;
            for (const int64_t length : given) {
                if (length < 0) throw UserError("split has a negative length");
                total = checked_add(total, length, "split");
            }
            if (total != extent)
                throw UserError("split adds up to " + std::to_string(total) + ", not " + std::to_string(extent));
            return given;
        }
        part = given[0];
        if (part < 1) throw UserError("split is " + std::to_string(part));
    }
    std::vector<int64_t> lengths;
    for (int64_t start = 0; start < extent; start += part) lengths.push_back(std::min(part, extent - start));
    return lengths;
}

std::vector<Datum> interpret_split_to_sequence(const InterpretContext& context) {
    const TensorValues whole = context.values(0);
    const Shape& shape = shape_of(whole);
    const auto axis = static_cast<size_t>(axis_of(context.attributes(), 0, shape.rank()));
    const bool drops_axis = !context.has(1) && context.attributes().integer("keepdims", 1) == 0;
    Sequence sequence{element_type(whole), {}};
    if (drops_axis) {
        for (int64_t i = 0; i < shape[axis]; ++i) sequence.tensors.push_back(slice_of(whole, axis, i));
        return {std::move(sequence)};
    }
    int64_t start = 0;
    for (const int64_t length : sequence_part_lengths(context, shape[axis])) {
        sequence.tensors.push_back(part_of(whole, axis, start, length));
        start += length;
    }
    return {std::move(sequence)};
}

std::vector<Datum> interpret_concat_from_sequence(const InterpretContext& context) {
    const Sequence& sequence = context.sequence(0);
    if (sequence.tensors.empty()) throw UserError("an empty sequence cannot be joined");
    if (!context.attributes().has("axis")) throw UserError("has no axis");
    const bool is_new = context.attributes().integer("new_axis", 0) != 0;
    const size_t rank = shape_of(sequence.tensors[0]).rank() + (is_new ? 1 : 0);
    const auto axis = static_cast<size_t>(axis_of(context.attributes(), 0, rank));
    constexpr const char* what = "the tensors of its sequence";
    return {datum_of(is_new ? stacked(sequence.tensors, axis, what) : concatenated(sequence.tensors, axis, what))};
}

}  // namespace

const Op split_to_sequence_op{{
    .name = "SplitToSequence",
    .since = {11, 24},
    .inputs = {1, 2},
    .attributes = {{"axis", "int", "0", "the axis to cut"},
                   {"keepdims", "int", "1", "0: parts of length 1 lose the axis; only without split"}},
    .interpret = interpret_split_to_sequence,
    .help = "Cuts a tensor into a sequence of parts along one axis. Interpreted only.",
}};

const Op concat_from_sequence_op{{
    .name = "ConcatFromSequence",
    .since = {11},
    .attributes = {{"axis", "int", "", "the axis along which the tensors follow each other"},
                   {"new_axis", "int", "0", "1: a new axis, as long as the sequence"}},
    .interpret = interpret_concat_from_sequence,
    .help = "Joins the tensors of a sequence along one axis. Interpreted only.",
}};

}  // namespace headway
