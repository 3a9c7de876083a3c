#include "kernels/cpu/gemm/dot_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit DotMicro dot_micro = make_dot_micro();

}  // namespace headway::HEADWAY_ISA
