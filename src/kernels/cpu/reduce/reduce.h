// Reductions over any axes, global pools among them, in any layout whose kept elements stay in order.
#pragma once

#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/cpu/reduce/reduce_ops.h"
#include "kernels/kernel.h"

namespace headway {

// The code of one instruction set that a kernel is made of.
struct ReduceCode {
    const ReduceOps& (*reduce)();
    const TileOps& (*tiles)();
};

Kernel::Fields reduce_fields(const std::string& isa_word, Isa isa, ReduceCode code);

}  // namespace headway
