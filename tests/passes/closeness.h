// Comparing outputs of two forms of one graph.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace headway {

// "" when all outputs agree: exactly, or up to rounding relative to the largest value of the output.
inline std::string disagreement(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted, bool exactly) {
    constexpr double rounding = 2e-5;
    if (got.size() != wanted.size()) return "numbers of outputs differ";
    for (size_t k = 0; k < got.size(); ++k) {
        if (got[k].shape() != wanted[k].shape() || got[k].type() != wanted[k].type()) return "shapes differ";
        double largest = 0;
        for (int64_t i = 0; i < wanted[k].elements(); ++i)
            if (std::isfinite(wanted[k].at(i))) largest = std::max(largest, std::abs(wanted[k].at(i)));
        for (int64_t i = 0; i < wanted[k].elements(); ++i) {
            const double a = got[k].at(i), b = wanted[k].at(i);
            const bool equal = a == b || (std::isnan(a) && std::isnan(b));
            if (!equal && (exactly || !(std::abs(a - b) <= rounding * (largest + 1e-3))))
                return "output " + std::to_string(k) + " element " + std::to_string(i) + ": " + std::to_string(a) +
                       " is not " + std::to_string(b);
        }
    }
    return "";
}

}  // namespace headway
