#include "kernels/cpu/depthwise/strip.h"

namespace headway {

const DepthwiseStrips& depthwise_strips(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::depthwise_strips;
        case Isa::avx2:
            return avx2::depthwise_strips;
        case Isa::baseline:
            break;
    }
    return baseline::depthwise_strips;
}

}  // namespace headway
