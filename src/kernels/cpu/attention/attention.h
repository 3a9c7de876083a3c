// Attention kernels of one instruction set.
#pragma once

#include <string_view>

#include "kernels/cpu/attention/attention_ops.h"
#include "kernels/cpu/gemm/micro.h"
#include "kernels/kernel.h"

namespace headway {

// rows: all scores of a block of queries at once. flash: a block of keys at a time, what was summed before being
// brought down to the largest score so far, so that scores stay in the first-level cache however many keys there are.
Kernel::Fields rows_attention(Isa isa, std::string_view isa_name, const GemmMicro& micro, const AttentionOps& (*ops)());
Kernel::Fields flash_attention(Isa isa, std::string_view isa_name, const GemmMicro& micro,
                               const AttentionOps& (*ops)());

}  // namespace headway
