// MaxPool and AveragePool over one or two spatial axes.
#pragma once

#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/cpu/pool/pool_ops.h"
#include "kernels/cpu/reduce/reduce_ops.h"
#include "kernels/kernel.h"

namespace headway {

struct PoolCode {
    const ReduceOps& (*reduce)();
    const PoolOps& (*pool)();
    const TileOps& (*tiles)();
};

Kernel::Fields pool_fields(const std::string& isa_word, Isa isa, PoolCode code);

}  // namespace headway
