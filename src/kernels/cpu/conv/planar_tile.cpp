#include "kernels/cpu/conv/planar_tile.h"

namespace headway {

const PlanarTiles& planar_tiles(Isa isa) {
    switch (isa) {
        case Isa::avx512:
            return avx512::planar_tiles;
        case Isa::avx2:
            return avx2::planar_tiles;
        case Isa::baseline:
            break;
    }
    return baseline::planar_tiles;
}

}  // namespace headway
