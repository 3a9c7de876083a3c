// The kernel for Pointwise steps: a step program over whole tensors, in any layout that TileProgram reads.
#pragma once

#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/kernel.h"

namespace headway {

// The kernel made with the micro-operations of one instruction set.
Kernel::Fields pointwise_fields(const std::string& isa_word, Isa isa, const TileOps& (*ops)());

// Floating-point operations of one evaluation, multiply-add = 2, as executed here.
double program_flops(const Program& program);

}  // namespace headway
