// Convolution over plain images and outputs with vectors along the rows: for few channels, which leave channel vectors
// mostly empty.
#pragma once

#include "kernels/cpu/conv/planar_tile.h"
#include "kernels/kernel.h"

namespace headway {

// Declaration over a given table of register tiles, so that tests can run it over the emulated one.
Kernel::Fields planar_conv(Isa isa, std::string_view isa_name, const PlanarTiles& tiles);

}  // namespace headway
