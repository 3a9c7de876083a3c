#include "ops/elementwise.h"

namespace headway {
namespace {

// C's remainder with fmod (sign of the dividend), else the remainder with the sign of the divisor.
template <class T>
T remainder_of(T a, T b, bool by_dividend) {
    if constexpr (std::is_floating_point_v<T>) {
        const double rest = std::fmod(a, b);
        return !by_dividend && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
        if (b == 0) throw UserError("integer division by zero");
        // The smallest integer cannot be divided by -1, but the remainder is known.
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
        const T rest = static_cast<T>(a % b);
        return !by_dividend && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
}

void mod_reference(const ReferenceContext& context) {
    const bool by_dividend = context.attributes.integer("fmod", 0) != 0;
    visit_number(context.in(0).type(), [&]<class E>(E) {
        apply_binary<E, E>(context.in(0), context.in(1), context.out(0),
                           [=](auto a, auto b) { return remainder_of(a, b, by_dividend); });
    });
}

}  // namespace

const Op mod_op{{
    .name = "Mod",
    .since = {10, 13},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = {{"fmod", "int", "0", "1: the result has the sign of the dividend, 0: of the divisor"}},
    .infer = infer_broadcast,
    .reference = mod_reference,
    .help = "Remainder of a / b with broadcasting; an integer divided by zero is an error.",
}};

}  // namespace headway
