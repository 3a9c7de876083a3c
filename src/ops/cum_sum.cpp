#include <functional>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/elementwise.h"
#include "ops/rows.h"

namespace headway {
namespace {

// result = combine(result, element) along the axis, from `start`.
template <class F>
void cumulate(const ReferenceContext& context, int start, F combine) {
    const Shape& shape = context.in(0).shape();
    scalar_of(context.in(1), "axis");
    const int64_t axis = normalized_axis(context.in(1).to_int64()[0], shape.rank());
    const Lines lines = Lines::along(shape, static_cast<size_t>(axis));
    const bool exclusive = context.attributes.integer("exclusive", 0) != 0;
    const bool reverse = context.attributes.integer("reverse", 0) != 0;
    visit_number(context.in(0).type(), [&]<class E>(E) {
        const auto* x = stored<typename E::Storage>(context.in(0));
        auto* y = stored<typename E::Storage>(context.out(0));
        lines.for_each([&](int64_t first) {
            auto result = static_cast<typename E::Compute>(start);
            for (int64_t i = 0; i < lines.length; ++i) {
                const int64_t at = first + (reverse ? lines.length - 1 - i : i) * lines.inner;
                const auto before = result;
                result = wrapping(result, E::load(x[at]), combine);
                y[at] = E::store(exclusive ? before : result);
            }
        });
    });
}

}  // namespace

const Op cum_sum_op{{
    .name = "CumSum",
    .since = {11, 14},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = {{"exclusive", "int", "0", "1: an element does not count in its own sum"},
                   {"reverse", "int", "0", "1: sums run from the end"}},
    .infer = infer_same,
    .reference = [](const ReferenceContext& context) { cumulate(context, 0, std::plus{}); },
    .help = "Running sums along an axis.",
}};

const Op cum_prod_op{{
    .name = "CumProd",
    .since = {26},
    .inputs = {2, 2},
    .types = number_types,
    .attributes = {{"exclusive", "int", "0", "1: an element does not count in its own product"},
                   {"reverse", "int", "0", "1: products run from the end"}},
    .infer = infer_same,
    .reference = [](const ReferenceContext& context) { cumulate(context, 1, std::multiplies{}); },
    .help = "Running products along an axis; integers wrap.",
}};

}  // namespace headway
