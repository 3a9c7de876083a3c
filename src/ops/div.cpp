#include <type_traits>

#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
namespace {

template <class T>
T divided(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return a / b;
    } else {
        if (b == 0) throw UserError("integer division by zero");
        // The smallest integer has no negative: it wraps.
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrapping(T{0}, a, std::minus{});
        return static_cast<T>(a / b);
    }
}

}  // namespace

const Op div_op{{
    .name = "Div",
    .since = {1, 6, 7, 13, 14},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = legacy_broadcast_attributes(),
    .infer = infer_with_legacy(LegacyBroadcast::by_attributes, infer_broadcast),
    .reference = reference_with_legacy(LegacyBroadcast::by_attributes,
                                       binary_number([](auto a, auto b) { return divided(a, b); })),
    .help = "a / b with broadcasting. Integers are truncated towards zero; an integer divided by zero is an error.",
}};

}  // namespace headway
