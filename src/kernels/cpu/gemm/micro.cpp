#include "kernels/cpu/gemm/micro.h"

namespace headway {

const GemmMicro& gemm_micro(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::gemm_micro;
        case Isa::avx2:
            return avx2::gemm_micro;
        case Isa::baseline:
            break;
    }
    return baseline::gemm_micro;
}

}  // namespace headway
