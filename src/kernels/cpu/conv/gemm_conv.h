// Convolutions computed as a product of windows (windows.h) and packed weights. The kernels differ only in where the
// windows' values lie; each is declared for every instruction set.
#pragma once

#include "kernels/cpu/gemm/micro.h"
#include "kernels/kernel.h"

namespace headway {

// Declarations over a given table of register tiles, so that tests can run them over the emulated one. Tiles that
// compute in bf16 make kernels of that format; `indirect` has none: rounding copies the windows anyway, which is
// im2col.
Kernel::Fields gemm1x1_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro);
Kernel::Fields indirect_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro);
Kernel::Fields im2col_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro);
Kernel::Fields rows_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro);

}  // namespace headway
