// QuantizeLinear and DequantizeLinear between f32 and 8-bit integers.
#pragma once

#include "kernels/cpu/integer/quantize_ops.h"
#include "kernels/kernel.h"

namespace headway {

// Elements of a quantisation that are one unit of scheduling, in thousands.
extern const Knob<int64_t> quantize_tile_knob;

Kernel::Fields linear_quantize_fields(const std::string& isa_word, Isa isa, const QuantizeOps& ops);
Kernel::Fields linear_dequantize_fields(const std::string& isa_word, Isa isa, const QuantizeOps& ops);

}  // namespace headway
