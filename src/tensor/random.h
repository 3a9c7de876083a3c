// Seeded tensors: the same values on every machine and library, for generated inputs, text constants and tests.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace headway {

// A small counter-based generator; only integer arithmetic, so that values do not depend on a maths library.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next();
    // Uniform in [0, bound); bound > 0.
    uint64_t below(uint64_t bound);
    // Nearly normal (sum of twelve uniform values): mean 0, deviation 1, never beyond 6.
    double normal();

private:
    uint64_t state_;
};

// Floats: normal with the given deviation. Integers: small (0..7 unsigned, -4..4 signed), so that they are legal as
// counts and token ids. Booleans: even odds.
Tensor random_tensor(ElementType type, const Shape& shape, uint64_t seed, double deviation = 1,
                     int64_t limit_bytes = Tensor::default_limit_bytes);

}  // namespace headway
