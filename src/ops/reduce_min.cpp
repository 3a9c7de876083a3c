#include "ops/reduce.h"

namespace headway {
namespace {

template <class E>
typename E::Compute reduce_min_start() {
    using Compute = typename E::Compute;
    if constexpr (std::is_floating_point_v<Compute>)
        return std::numeric_limits<double>::infinity();
    else if constexpr (E::type == ElementType::boolean)
        return 1;
    else
        return std::numeric_limits<typename E::Storage>::max();
}

void reduce_min_reference(const ReferenceContext& context) {
    const Tensor& x = context.in(0);
    const std::vector<bool> reduced = reduced_axes(context, context.attributes, x.shape().rank());
    visit_element(x.type(), [&]<class E>(E) {
        using Compute = typename E::Compute;
        const auto values = reduce_elements<E>(
            x, reduced, context.out(0).elements(), reduce_min_start<E>(),
            [](Compute best, Compute value) { return value < best || is_nan(value) ? value : best; });
        finish_reduction<E>(values, context.out(0), [](Compute value) { return value; });
    });
}

}  // namespace

const Op reduce_min_op{{
    .name = "ReduceMin",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = fixed_size_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduce_min_reference,
    .help = "Smallest element; NaN wins; the highest value over nothing.",
}};

}  // namespace headway
