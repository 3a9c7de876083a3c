#include <functional>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/elementwise.h"
#include "ops/rows.h"

namespace headway {
namespace {

void cum_sum_reference(const ReferenceContext& context) {
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
            typename E::Compute sum{};
            for (int64_t i = 0; i < lines.length; ++i) {
                const int64_t at = first + (reverse ? lines.length - 1 - i : i) * lines.inner;
                const auto before = sum;
                sum = wrapping(sum, E::load(x[at]), std::plus{});
                y[at] = E::store(exclusive ? before : sum);
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
    .reference = cum_sum_reference,
    .help = "Running sums along an axis.",
}};

}  // namespace headway
