// Lines of elements brought to mean 0 and variance 1, or to mean square 1: the core of the layer, instance, group and
// root-mean-square normalisations.
#pragma once

#include <span>

namespace headway {

struct Moments {
    double mean;
    double inverse_deviation;  // 1 / sqrt(variance + epsilon)
};

// Normalises in place and says with what.
Moments normalize(std::span<double> values, double epsilon);

// Divides by the root of the mean square plus epsilon, in place; returns the factor, 1 / that root.
double normalize_root_mean_square(std::span<double> values, double epsilon);

}  // namespace headway
