// QLinearAdd of tensors of one shape.
#pragma once

#include "kernels/cpu/integer/quantize_ops.h"
#include "kernels/kernel.h"

namespace headway {

Kernel::Fields quantized_add_fields(const std::string& isa_word, Isa isa, const QuantizeOps& ops);

}  // namespace headway
