// Convolutions with one input channel in each group, over nhwc.
#pragma once

#include "kernels/cpu/depthwise/strip.h"
#include "kernels/kernel.h"

namespace headway {

// Declaration over a given table of strips, so that tests can run it over the emulated one.
Kernel::Fields depthwise_conv(Isa isa, std::string_view isa_name, const DepthwiseStrips& strips);

}  // namespace headway
