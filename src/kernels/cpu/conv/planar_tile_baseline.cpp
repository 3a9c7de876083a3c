#include "kernels/cpu/conv/planar_tile_kernel.h"

namespace headway::HEADWAY_ISA {

const constinit PlanarTiles planar_tiles = make_planar_tiles<4>();

}  // namespace headway::HEADWAY_ISA
