// Resize, nearest and linear, over one or two spatial axes.
#pragma once

#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/cpu/resize/resize_ops.h"
#include "kernels/kernel.h"

namespace headway {

struct ResizeCode {
    const ResizeOps& (*resize)();
    const TileOps& (*tiles)();
};

Kernel::Fields resize_fields(const std::string& isa_word, Isa isa, ResizeCode code);

}  // namespace headway
