#include "ops/op.h"
#include "ops/strided.h"

namespace headway {
namespace {

std::vector<Datum> interpret_string_concat(const InterpretContext& context) {
    const Strings& left = context.strings(0);
    const Strings& right = context.strings(1);
    const Shape shape = broadcast(left.shape, right.shape);
    StringsWriter joined(shape);
    StridedLoop<2>(shape, {broadcast_strides(left.shape, shape), broadcast_strides(right.shape, shape)})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i)
                joined.add(left.values[static_cast<size_t>(offsets[0] + i * steps[0])],
                           right.values[static_cast<size_t>(offsets[1] + i * steps[1])]);
        });
    return {std::move(joined).finish()};
}

}  // namespace

const Op string_concat_op{{
    .name = "StringConcat",
    .since = {20},
    .inputs = {2, 2},
    .types = string_type,
    .interpret = interpret_string_concat,
    .help = "Each string of the first input with that of the second after it, with broadcasting. Interpreted only.",
}};

}  // namespace headway
