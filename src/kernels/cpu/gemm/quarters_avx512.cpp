#include "kernels/cpu/gemm/quarters_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit QuarterSums quarter_sums{add_quarters, update_quarter};

}  // namespace headway::HEADWAY_ISA
