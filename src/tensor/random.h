// Seeded tensors: the same values on every machine and library, for generated inputs, text constants and tests.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "tensor/tensor.h"

namespace headway {

// Nearly normal (sum of twelve uniform values, so no maths library decides): mean 0, deviation 1, never beyond 6.
double nearly_normal(Rng& rng);

// Floats: nearly normal with the given deviation. Integers: small (0..7 unsigned, -4..4 signed). Booleans: even odds.
// f8e8m0, which has no numbers around zero: 1/16 to 16.
Tensor random_tensor(ElementType type, const Shape& shape, uint64_t seed, double deviation = 1,
                     int64_t limit_bytes = Tensor::default_limit_bytes);

}  // namespace headway
