#include "ops/reduce.h"

namespace headway {
namespace {

constexpr auto mean_of = [](auto sum, auto count) {
    if (!std::is_floating_point_v<decltype(sum)> && count == 0) throw UserError("an integer mean over no elements");
    return static_cast<decltype(sum)>(sum / count);
};

}  // namespace

const Op reduce_mean_op{{
    .name = "ReduceMean",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = number_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduction(
        0, [](auto sum, auto x) { return wrapping(sum, x, std::plus{}); }, mean_of),
    .help = "Mean; integers are truncated; NaN over nothing.",
}};

}  // namespace headway
