#include "ops/reduce.h"

namespace headway {
namespace {

constexpr auto root_of = [](auto sum, auto) { return static_cast<decltype(sum)>(std::sqrt(static_cast<double>(sum))); };

}  // namespace

const Op reduce_l2_op{{
    .name = "ReduceL2",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = number_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        0, [](auto sum, auto x) { return wrapping(sum, wrapping(x, x, std::multiplies{}), std::plus{}); }, root_of),
    .help = "Square root of the sum of squares.",
}};

}  // namespace headway
