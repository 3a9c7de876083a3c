#include "kernels/cpu/winograd/transform.h"

namespace headway {

const WinogradTransforms& winograd_transforms(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::winograd_transforms;
        case Isa::avx2:
            return avx2::winograd_transforms;
        case Isa::baseline:
            break;
    }
    return baseline::winograd_transforms;
}

}  // namespace headway
