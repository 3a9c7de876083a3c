#include "kernels/cpu/conv/direct_tile.h"

namespace headway {

const DirectTiles& direct_tiles(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::direct_tiles;
        case Isa::avx2:
            return avx2::direct_tiles;
        case Isa::baseline:
            break;
    }
    return baseline::direct_tiles;
}

}  // namespace headway
