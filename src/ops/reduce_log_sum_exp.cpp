#include "ops/reduce.h"

namespace headway {
namespace {

void reduce_log_sum_exp_reference(const ReferenceContext& context) {
    const Tensor& x = context.in(0);
    const std::vector<bool> reduced = reduced_axes(context, context.attributes, x.shape().rank());
    struct Running {
        double top, sum;  // the result so far is top + log(sum)
    };
    visit_float(x.type(), [&]<class E>(E) {
        const auto values = reduce_elements<E>(
            x, reduced, context.out(0).elements(), Running{-std::numeric_limits<double>::infinity(), 0},
            [](Running so_far, double value) -> Running {
                const double top = value > so_far.top ? value : so_far.top;
                // Equal infinities have no difference.
                const auto scaled = [top](double x) { return x == top ? 1.0 : std::exp(x - top); };
                return {top, so_far.sum * scaled(so_far.top) + scaled(value)};
            });
        finish_reduction<E>(values, context.out(0),
                            [](const Running& value) { return value.top + std::log(value.sum); });
    });
}

}  // namespace

const Op reduce_log_sum_exp_op{{
    .name = "ReduceLogSumExp",
    .since = reduce_versions(),
    .inputs = {1, 2},
    .types = float_types,
    .attributes = reduce_attributes(),
    .infer = infer_reduce,
    .reference = reduce_log_sum_exp_reference,
    .help = "Logarithm of the sum of exponentials, computed so that it does not overflow.",
}};

}  // namespace headway
