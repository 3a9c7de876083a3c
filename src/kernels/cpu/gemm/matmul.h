// MatMul and Gemm over packed panels of the right operand: packed at build time when it is a constant, else at the
// start of each run.
#pragma once

#include "kernels/cpu/gemm/micro.h"
#include "kernels/kernel.h"

namespace headway {

// Declarations over a given table of register tiles, so that tests can run them over the emulated one.
Kernel::Fields gemm_matmul(Isa isa, std::string_view isa_name, const GemmMicro& micro);
Kernel::Fields gemv_matmul(Isa isa, std::string_view isa_name, const GemmMicro& micro);

}  // namespace headway
