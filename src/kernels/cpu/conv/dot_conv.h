// Convolutions with very few output channels: dot products along the windows' rows.
#pragma once

#include "kernels/cpu/gemm/dot.h"
#include "kernels/kernel.h"

namespace headway {

// Declaration over a given table of register tiles, so that tests can run it over the emulated one.
Kernel::Fields dot_conv(Isa isa, std::string_view isa_name, const DotMicro& micro);

}  // namespace headway
