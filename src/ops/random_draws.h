// The random numbers of RandomUniform, RandomNormal, Bernoulli, Multinomial and Dropout: those of std::mt19937_64
// (Rng), so that one seed gives the same values on every machine. A node without a seed has seed 0: ONNX leaves the
// choice open, and an engine that repeats can be checked.
#pragma once

#include "base/rng.h"
#include "tensor/attributes.h"

namespace headway {

// By attribute `seed`, a float (of Dropout: an int).
Rng seeded_rng(const Attributes& attributes);

// Mean 0, deviation 1, by the method of Box and Muller.
double normal_draw(Rng& rng);

}  // namespace headway
