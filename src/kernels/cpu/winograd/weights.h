// Winograd's transform of 3x3 weights, done once when an engine is built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headway {

// Weights (oc, ic, 3, 3) as (m+2)^2 matrices ic x oc, computed in double.
std::vector<float> winograd_weights(int m, std::span<const float> weights, int64_t ic, int64_t oc);

}  // namespace headway
