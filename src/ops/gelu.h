// The Gaussian error linear unit and its approximations on one element.
#pragma once

#include <cmath>
#include <numbers>

namespace headway {

inline double gelu_by_erf(double x) { return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2)); }

inline double gelu_by_tanh(double x) {
    const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + std::tanh(inner));
}

}  // namespace headway
