#include "kernels/cpu/gemm/micro_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit GemmMicro gemm_micro = make_gemm_micro<8, 6, 4, 2>();

}  // namespace headway::HEADWAY_ISA
