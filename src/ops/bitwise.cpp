#include "ops/elementwise.h"

namespace headway {
namespace {

template <class F>
std::function<void(const ReferenceContext&)> binary_integer(F f) {
    return [f](const ReferenceContext& context) {
        visit_integer(context.in(0).type(),
                      [&]<class E>(E) { apply_binary<E, E>(context.in(0), context.in(1), context.out(0), f); });
    };
}

void bitwise_not_reference(const ReferenceContext& context) {
    visit_integer(context.in(0).type(), [&]<class E>(E) {
        apply_unary<E, E>(context.in(0), context.out(0), [](auto x) { return static_cast<decltype(x)>(~x); });
    });
}

void bit_shift_reference(const ReferenceContext& context) {
    const std::string direction = context.attributes.text("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") throw UserError("attribute direction is neither LEFT nor RIGHT");
    const bool left = direction == "LEFT";
    visit_integer(context.in(0).type(), [&]<class E>(E) {
        apply_binary<E, E>(context.in(0), context.in(1), context.out(0), [=](auto x, auto by) {
            // Shifting everything out is defined here, unlike in C++.
            if (static_cast<uint64_t>(by) >= 8 * sizeof(typename E::Storage)) return decltype(x){0};
            return static_cast<decltype(x)>(left ? x << by : x >> by);
        });
    });
}

}  // namespace

const Op bitwise_and_op{{
    .name = "BitwiseAnd",
    .since = {18},
    .inputs = {2, 2},
    .types = integer_types,
    .infer = infer_broadcast,
    .reference = binary_integer([](auto a, auto b) { return a & b; }),
    .help = "Bits set in both, with broadcasting.",
}};

const Op bitwise_or_op{{
    .name = "BitwiseOr",
    .since = {18},
    .inputs = {2, 2},
    .types = integer_types,
    .infer = infer_broadcast,
    .reference = binary_integer([](auto a, auto b) { return a | b; }),
    .help = "Bits set in either, with broadcasting.",
}};

const Op bitwise_xor_op{{
    .name = "BitwiseXor",
    .since = {18},
    .inputs = {2, 2},
    .types = integer_types,
    .infer = infer_broadcast,
    .reference = binary_integer([](auto a, auto b) { return a ^ b; }),
    .help = "Bits set in exactly one, with broadcasting.",
}};

const Op bitwise_not_op{{
    .name = "BitwiseNot",
    .since = {18},
    .types = integer_types,
    .infer = infer_same,
    .reference = bitwise_not_reference,
    .help = "Every bit turned.",
}};

const Op bit_shift_op{{
    .name = "BitShift",
    .since = {11},
    .inputs = {2, 2},
    .types = unsigned_integer_types,
    .attributes = {{"direction", "string", "", "LEFT or RIGHT"}},
    .infer = infer_broadcast,
    .reference = bit_shift_reference,
    .help = "Bits of the first input moved by as many places as the second says, with broadcasting.",
}};

}  // namespace headway
