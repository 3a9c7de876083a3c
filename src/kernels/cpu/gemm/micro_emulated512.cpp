#include "kernels/cpu/gemm/micro_bf16_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit GemmMicro gemm_micro = make_gemm_micro<12, 12, 8, 6>();
const constinit GemmMicro bf16_gemm_micro = make_bf16_gemm_micro<12, 12, 8, 6>();

}  // namespace headway::HEADWAY_ISA
