#include "kernels/cpu/gemm/dot.h"

namespace headway {

const DotMicro& dot_micro(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::dot_micro;
        case Isa::avx2:
            return avx2::dot_micro;
        case Isa::baseline:
            break;
    }
    return baseline::dot_micro;
}

}  // namespace headway
