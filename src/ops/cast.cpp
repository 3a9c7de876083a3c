#include <limits>

#include "ops/elementwise.h"

namespace headway {
namespace {

ElementType cast_target(const Attributes& attributes) {
    const int64_t number = attributes.integer("to", 0);
    const auto type = static_cast<ElementType>(number);
    if (number <= 0 || number > 255 || !fixed_size_types.contains(number < 32 ? type : ElementType::undefined))
        throw Unsupported("cannot cast to element type " + std::to_string(number));
    return type;
}

// Floating point to integer truncates, saturates, and makes NaN zero, in every place that casts; integers wrap.
template <class From, class To>
typename To::Storage cast_element(typename From::Compute value) {
    using Stored = typename To::Storage;
    if constexpr (To::type == ElementType::boolean) {
        return value != 0;
    } else if constexpr (std::is_floating_point_v<typename From::Compute> && std::is_integral_v<typename To::Compute>) {
        if (std::isnan(value)) return 0;
        if (value <= static_cast<double>(std::numeric_limits<Stored>::lowest()))
            return std::numeric_limits<Stored>::lowest();
        if (value >= static_cast<double>(std::numeric_limits<Stored>::max())) return std::numeric_limits<Stored>::max();
        return static_cast<Stored>(value);
    } else {
        return To::store(static_cast<typename To::Compute>(value));
    }
}

void cast_reference(const ReferenceContext& context) {
    const Tensor& x = context.in(0);
    Tensor& y = context.out(0);
    visit_element(x.type(), [&]<class From>(From) {
        visit_element(y.type(), [&]<class To>(To) {
            const auto* from = stored<typename From::Storage>(x);
            auto* to = stored<typename To::Storage>(y);
            for (int64_t i = 0; i < x.elements(); ++i) to[i] = cast_element<From, To>(From::load(from[i]));
        });
    });
}

}  // namespace

const Op cast_op{{
    .name = "Cast",
    .since = {6, 9, 13, 19},
    .types = fixed_size_types,
    .attributes = {{"to", "int", "", "number of the new element type"},
                   {"saturate", "int", "1", "only read for 8-bit floats, which are not supported"}},
    .infer = [](InferContext& context) { context.set_output(0, cast_target(context.attributes()), context.shape(0)); },
    .reference = cast_reference,
    .help =
        "Changes the element type. Floating point to integer truncates and saturates, NaN becomes 0; integers wrap.",
}};

const Op cast_like_op{{
    .name = "CastLike",
    .since = {15, 19},
    .inputs = {2, 2},
    .types = fixed_size_types,
    .attributes = {{"saturate", "int", "1", "only read for 8-bit floats, which are not supported"}},
    .infer = [](InferContext& context) { context.set_output(0, context.type(1), context.shape(0)); },
    .reference = cast_reference,
    .help = "Changes the element type to that of the second input, as Cast does.",
}};

}  // namespace headway
