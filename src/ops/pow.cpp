#include <algorithm>
#include <functional>

#include "ops/elementwise.h"
#include "ops/legacy_broadcast.h"

namespace headway {
namespace {

// Integers by repeated squaring, wrapping; a negative exponent leaves 1, -1 or 0 as truncation does.
template <class T>
T integer_power(T base, int64_t exponent) {
    if (exponent < 0)
        return base == T{1} ? T{1} : base == static_cast<T>(-1) ? (exponent % 2 == 0 ? T{1} : base) : T{0};
    T result{1};
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0) result = wrapping(result, base, std::multiplies{});
        base = wrapping(base, base, std::multiplies{});
    }
    return result;
}

int64_t whole(double value) {
    constexpr double limit = 9.2e18;  // inside int64
    return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -limit, limit));
}

template <class T, class U>
T power(T base, U exponent) {
    if constexpr (std::is_floating_point_v<T>)
        return std::pow(base, static_cast<double>(exponent));
    else if constexpr (std::is_integral_v<U>)
        return integer_power(base, static_cast<int64_t>(exponent));
    else
        return static_cast<T>(whole(std::pow(static_cast<double>(base), exponent)));
}

void infer_pow(InferContext& context) {
    if (context.version() < 12 && context.type(0) != context.type(1))
        throw UserError("its inputs have different types");
    context.set_output(0, context.type(0), broadcast(context.shape(0), context.shape(1)));
}

void pow_reference(const ReferenceContext& context) {
    const Tensor& base = context.in(0);
    const Tensor& exponent = context.in(1);
    Tensor& y = context.out(0);
    const StridedLoop<3> loop(y.shape(), {broadcast_strides(base.shape(), y.shape()),
                                          broadcast_strides(exponent.shape(), y.shape()), y.shape().strides()});
    visit_number(base.type(), [&]<class E>(E) {
        const auto* from = stored<typename E::Storage>(base);
        auto* to = stored<typename E::Storage>(y);
        visit_number(exponent.type(), [&]<class X>(X) {
            const auto* by = stored<typename X::Storage>(exponent);
            loop.for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
                for (int64_t i = 0; i < count; ++i)
                    to[offsets[2] + i * steps[2]] = E::store(
                        power(E::load(from[offsets[0] + i * steps[0]]), X::load(by[offsets[1] + i * steps[1]])));
            });
        });
    });
}

}  // namespace

const Op pow_op{{
    .name = "Pow",
    .since = {1, 7, 12, 13, 15},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = legacy_broadcast_attributes(),
    .infer = infer_with_legacy(LegacyBroadcast::by_attributes, infer_pow),
    .reference = reference_with_legacy(LegacyBroadcast::by_attributes, pow_reference),
    .help = "a to the power of b with broadcasting; the result has the type of a.",
}};

}  // namespace headway
