#include "measure/pooling.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace headway {
namespace {

double square(double x) { return x * x; }

struct Weighted {
    double sum = 0, squares = 0, mean = 0;  // of the weights; of the values
};

Weighted weigh(std::span<const Estimate> estimates, double between) {
    Weighted weighted;
    for (const Estimate& estimate : estimates) {
        const double weight = 1 / (square(estimate.standard_error) + between);
        weighted.sum += weight;
        weighted.squares += square(weight);
        weighted.mean += weight * estimate.value;
    }
    weighted.mean /= weighted.sum;
    return weighted;
}

// Variance of the quantity itself over the estimates.
double variance_between(std::span<const Estimate> estimates) {
    if (estimates.size() < 2) return 0;
    const Weighted fixed = weigh(estimates, 0);
    double scatter = 0;
    for (const Estimate& estimate : estimates)
        scatter += square((estimate.value - fixed.mean) / estimate.standard_error);
    const double excess = scatter - static_cast<double>(estimates.size() - 1);
    return std::max(0.0, excess / (fixed.sum - fixed.squares / fixed.sum));
}

}  // namespace

Estimate pool(std::span<const Estimate> estimates) {
    HEADWAY_CHECK(!estimates.empty());
    for (const Estimate& estimate : estimates) HEADWAY_CHECK(estimate.standard_error > 0);
    const Weighted weighted = weigh(estimates, variance_between(estimates));
    return {weighted.mean, 1 / std::sqrt(weighted.sum)};
}

}  // namespace headway
