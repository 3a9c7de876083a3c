// Transposed convolutions over nhwc as products with packed weights.
#pragma once

#include "kernels/cpu/gemm/dot.h"
#include "kernels/cpu/gemm/micro.h"
#include "kernels/kernel.h"

namespace headway {

// Declarations over a given table of register tiles, so that tests can run them over the emulated one.
Kernel::Fields subpixel_deconv(Isa isa, std::string_view isa_name, const GemmMicro& micro);
Kernel::Fields dot_deconv(Isa isa, std::string_view isa_name, const DotMicro& micro);
Kernel::Fields col2im_deconv(Isa isa, std::string_view isa_name, const GemmMicro& micro);

}  // namespace headway
