#include "kernels/cpu/conv/direct_tile_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit DirectTiles direct_tiles = make_direct_tiles<6, 2, 0, 0>();

}  // namespace headway::HEADWAY_ISA
