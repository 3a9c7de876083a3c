// Softmax, LogSoftmax and LayerNormalization.
#pragma once

#include "kernels/cpu/norm/norm_ops.h"
#include "kernels/kernel.h"

namespace headway {

Kernel::Fields softmax_fields(const std::string& isa_word, Isa isa, const NormOps& (*ops)());
Kernel::Fields layer_norm_fields(const std::string& isa_word, Isa isa, const NormOps& (*ops)());

}  // namespace headway
