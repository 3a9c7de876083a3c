// Lines of elements brought to mean 0 and variance 1: the core of the layer, instance and group normalisations.
#pragma once

#include <span>

namespace headway {

struct Moments {
    double mean;
    double inverse_deviation;  // 1 / sqrt(variance + epsilon)
};

// Normalises in place and says with what.
Moments normalize(std::span<double> values, double epsilon);

}  // namespace headway
