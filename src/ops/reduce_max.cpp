#include "ops/reduce.h"

namespace headway {
namespace {

template <class E>
typename E::Compute reduce_max_start() {
    using Compute = typename E::Compute;
    if constexpr (std::is_floating_point_v<Compute>)
        return -std::numeric_limits<double>::infinity();
    else if constexpr (E::type == ElementType::boolean)
        return 0;
    else
        return std::numeric_limits<typename E::Storage>::lowest();
}

void reduce_max_reference(const ReferenceContext& context) {
    const Tensor& x = context.in(0);
    const std::vector<bool> reduced = reduced_axes(context, context.attributes, x.shape().rank());
    visit_element(x.type(), [&]<class E>(E) {
        using Compute = typename E::Compute;
        const auto values = reduce_elements<E>(
            x, reduced, context.out(0).elements(), reduce_max_start<E>(),
            [](Compute best, Compute value) { return value > best || is_nan(value) ? value : best; });
        finish_reduction<E>(values, context.out(0), [](Compute value) { return value; });
    });
}

}  // namespace

const Op reduce_max_op{{
    .name = "ReduceMax",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = fixed_size_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduce_max_reference,
    .help = "Largest element; NaN wins; the lowest value over nothing.",
}};

}  // namespace headway
