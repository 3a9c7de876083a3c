// 3x3 convolutions of stride 1 by Winograd's minimal filtering: fewer multiplications for more additions.
#pragma once

#include "kernels/cpu/gemm/micro.h"
#include "kernels/cpu/winograd/transform.h"
#include "kernels/kernel.h"

namespace headway {

// Declarations over given tables, so that tests can run them over the emulated ones. m = 2 or 4.
Kernel::Fields winograd_conv(int m, Isa isa, std::string_view isa_name, const GemmMicro& micro,
                             const WinogradTransforms& transforms);

}  // namespace headway
