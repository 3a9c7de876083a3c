// A product of two matrices by Strassen's seven products of their quarters instead of eight (V. Strassen, "Gaussian
// elimination is not optimal", Numerische Mathematik 13, 1969). The sums of the right operand's quarters are packed at
// build time; one level, since each level's sums cancel and cost memory.
#pragma once

#include <string_view>

#include "kernels/cpu/gemm/micro.h"
#include "kernels/cpu/gemm/quarters.h"
#include "kernels/kernel.h"

namespace headway {

// matmul.strassen.*: MatMul and Gemm with a constant right operand.
Kernel::Fields strassen_matmul(Isa isa, std::string_view isa_name, const GemmMicro& micro, const QuarterSums& sums);

}  // namespace headway
