#include "ops/normalization.h"

#include <cmath>

namespace headway {

Moments normalize(std::span<double> values, double epsilon) {
    const auto count = static_cast<double>(values.size());
    double sum = 0;
    for (double value : values) sum += value;
    const double mean = sum / count;
    double squares = 0;
    for (double value : values) squares += (value - mean) * (value - mean);
    const double inverse = 1 / std::sqrt(squares / count + epsilon);
    for (double& value : values) value = (value - mean) * inverse;
    return {mean, inverse};
}

double normalize_root_mean_square(std::span<double> values, double epsilon) {
    double squares = 0;
    for (double value : values) squares += value * value;
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(values.size()) + epsilon);
    for (double& value : values) value *= inverse;
    return inverse;
}

}  // namespace headway
