// The cost model that orders candidates before anything is timed: a roofline with nominal machine numbers. It decides
// defaults only; the tuner times whole engines.
#pragma once

#include "kernels/kernel.h"
#include "knobs/route.h"

namespace headway {

// Microseconds of one core for work done by a kernel written for `isa`.
double predicted_us(const Work& work, Isa isa, const Target& target, const Route& route);
// Microseconds to read and write `bytes` once each.
double copy_us(double bytes, const Target& target, const Route& route);

}  // namespace headway
