#include <algorithm>

#include "ops/element.h"
#include "ops/op.h"
#include "tensor/narrow.h"

namespace headway {
namespace {

void infer_bit_cast(InferContext& context) {
    const int64_t number = context.attributes().integer("to", 0);
    const auto type = number > 0 && number < 32 ? static_cast<ElementType>(number) : ElementType::undefined;
    if (!movable_types.contains(type)) throw Unsupported("cannot take bits as element type " + std::to_string(number));
    if (bits_of(type) != bits_of(context.type(0)))
        throw UserError(std::string(to_string(context.type(0))) + " and " + std::string(to_string(type)) +
                        " differ in bits");
    context.set_output(0, type, context.shape(0));
}

void bit_cast_reference(const ReferenceContext& context) {
    Tensor& y = context.out(0);
    const std::span<const std::byte> from = context.in(0).bytes();
    const std::span<std::byte> to = y.mutable_bytes();
    std::ranges::copy(from, to.begin());
    if (bits_of(y.type()) < 8)
        for (std::byte& byte : to) byte = std::byte{narrow_byte(y.type(), static_cast<uint8_t>(byte))};
    if (y.type() == ElementType::boolean && std::ranges::any_of(to, [](std::byte b) { return b > std::byte{1}; }))
        throw UserError("its input holds bytes that are no booleans");
}

}  // namespace

const Op bit_cast_op{{
    .name = "BitCast",
    .since = {26},
    .types = movable_types,
    .attributes = {{"to", "int", "", "number of the new element type, which has as many bits"}},
    .infer = infer_bit_cast,
    .reference = bit_cast_reference,
    .help = "The same bits under another element type.",
}};

}  // namespace headway
