// Convolution straight from channel-blocked images into channel-blocked outputs: nothing is copied, and weights are
// packed in the order in which the register tiles read them.
#pragma once

#include "kernels/cpu/conv/direct_tile.h"
#include "kernels/kernel.h"

namespace headway {

// Declaration over a given table of register tiles, so that tests can run it over the emulated one.
Kernel::Fields direct_conv(Isa isa, std::string_view isa_name, const DirectTiles& tiles);

}  // namespace headway
