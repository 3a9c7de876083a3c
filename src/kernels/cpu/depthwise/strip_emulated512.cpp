#include "kernels/cpu/depthwise/strip_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit DepthwiseStrips depthwise_strips = make_depthwise_strips();

}  // namespace headway::HEADWAY_ISA
