#include "kernels/cpu/conv/direct_tile_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit DirectTiles direct_tiles = make_direct_tiles<12, 12, 9, 6>();

}  // namespace headway::HEADWAY_ISA
