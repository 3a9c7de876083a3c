#include "ops/arguments.h"

namespace headway {
namespace {

// Input `index` as a position among `count` tensors, negative ones from the end; `fallback` when it is absent.
int64_t sequence_position(const InterpretContext& context, size_t index, int64_t count, int64_t fallback) {
    if (!context.has(index)) return fallback;
    const std::vector<int64_t> position = context.tensor(index).to_int64();
    if (position.size() != 1) throw UserError("its position must hold one element");
    if (position[0] < -count || position[0] >= count)
        throw UserError("position " + std::to_string(position[0]) + " is outside a sequence of " +
                        std::to_string(count));
    return position[0] < 0 ? position[0] + count : position[0];
}

int64_t sequence_length(const Sequence& sequence) { return static_cast<int64_t>(sequence.tensors.size()); }

std::vector<Datum> interpret_sequence_construct(const InterpretContext& context) {
    Sequence sequence;
    for (size_t i = 0; i < context.inputs.size(); ++i) insert_tensor(sequence, i, context.values(i));
    return {std::move(sequence)};
}

std::vector<Datum> interpret_sequence_empty(const InterpretContext& context) {
    const int64_t number = context.attributes().integer("dtype", static_cast<int64_t>(ElementType::f32));
    const auto type = static_cast<ElementType>(number);
    if (number < 1 || number > 31 || !(fixed_size_types | string_type).contains(type))
        throw Unsupported("element type number " + std::to_string(number) + " is not handled");
    return {Sequence{type, {}}};
}

// The position may also be the length itself: the end, as without one.
std::vector<Datum> interpret_sequence_insert(const InterpretContext& context) {
    Sequence sequence = context.sequence(0);
    const int64_t length = sequence_length(sequence);
    int64_t position = length;
    if (context.has(2) && !(context.tensor(2).elements() == 1 && context.tensor(2).to_int64()[0] == length))
        position = sequence_position(context, 2, length, length);
    insert_tensor(sequence, static_cast<size_t>(position), context.values(1));
    return {std::move(sequence)};
}

std::vector<Datum> interpret_sequence_erase(const InterpretContext& context) {
    Sequence sequence = context.sequence(0);
    if (sequence.tensors.empty()) throw UserError("nothing can be erased from an empty sequence");
    const int64_t length = sequence_length(sequence);
    sequence.tensors.erase(sequence.tensors.begin() + sequence_position(context, 1, length, length - 1));
    return {std::move(sequence)};
}

std::vector<Datum> interpret_sequence_at(const InterpretContext& context) {
    const Sequence& sequence = context.sequence(0);
    const int64_t position = sequence_position(context, 1, sequence_length(sequence), 0);
    return {datum_of(sequence.tensors[static_cast<size_t>(position)])};
}

}  // namespace

const Op sequence_construct_op{{
    .name = "SequenceConstruct",
    .since = {11},
    .inputs = {1, any_number},
    .interpret = interpret_sequence_construct,
    .help = "A sequence of its inputs, which share a type. Interpreted only.",
}};

const Op sequence_empty_op{{
    .name = "SequenceEmpty",
    .since = {11},
    .inputs = {0, 0},
    .attributes = {{"dtype", "int", "1", "number of the element type"}},
    .interpret = interpret_sequence_empty,
    .help = "A sequence without tensors. Interpreted only.",
}};

const Op sequence_insert_op{{
    .name = "SequenceInsert",
    .since = {11},
    .inputs = {2, 3},
    .interpret = interpret_sequence_insert,
    .help = "The sequence with a tensor added before a position, or at the end. Interpreted only.",
}};

const Op sequence_erase_op{{
    .name = "SequenceErase",
    .since = {11},
    .inputs = {1, 2},
    .interpret = interpret_sequence_erase,
    .help = "The sequence without the tensor at a position, or without its last. Interpreted only.",
}};

const Op sequence_at_op{{
    .name = "SequenceAt",
    .since = {11},
    .inputs = {2, 2},
    .interpret = interpret_sequence_at,
    .help = "The tensor at a position of a sequence. Interpreted only.",
}};

const Op sequence_length_op{{
    .name = "SequenceLength",
    .since = {11},
    .interpret = [](const InterpretContext& context) -> std::vector<Datum> {
        return {Tensor::scalar(sequence_length(context.sequence(0)))};
    },
    .help = "The number of tensors of a sequence. Interpreted only.",
}};

}  // namespace headway
