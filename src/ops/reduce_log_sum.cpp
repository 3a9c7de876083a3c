#include "ops/reduce.h"

namespace headway {
namespace {

constexpr auto log_of = [](auto sum, auto) { return static_cast<decltype(sum)>(std::log(static_cast<double>(sum))); };

}  // namespace

const Op reduce_log_sum_op{{
    .name = "ReduceLogSum",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = float_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        0, [](auto sum, auto x) { return wrapping(sum, x, std::plus{}); }, log_of),
    .help = "Logarithm of the sum.",
}};

}  // namespace headway
