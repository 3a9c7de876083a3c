#include "kernels/cpu/gemm/quarters.h"

namespace headway {

const QuarterSums& quarter_sums(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::quarter_sums;
        case Isa::avx2:
            return avx2::quarter_sums;
        case Isa::baseline:
            break;
    }
    return baseline::quarter_sums;
}

}  // namespace headway
