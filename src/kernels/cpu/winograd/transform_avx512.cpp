#include "kernels/cpu/winograd/transform_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit WinogradTransforms winograd_transforms{{winograd_input<2>, winograd_input<4>, winograd_input<6>},
                                                       {winograd_output<2>, winograd_output<4>, winograd_output<6>}};

}  // namespace headway::HEADWAY_ISA
