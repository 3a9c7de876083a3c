// Operands as the first versions of operators spell them (opset 5 and older), for the operators themselves and for
// what gives their nodes today's form (compile/modernize.h).
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/attributes.h"

namespace headway {

// Whole numbers, which opset 1 stores in the floating-point type of the data. UserError when they are none.
std::vector<int64_t> whole_numbers(const Tensor& tensor, const char* name);

// Tile-1: `tiles` copies along one axis, as the repeats of every axis.
std::vector<int64_t> first_tile_repeats(const Tensor& tiles, const Tensor& axis, size_t rank);

// Upsample-1: factors of the last two of four axes, and its second mode.
std::vector<float> first_upsample_scales(const Attributes& attributes, size_t rank);
bool is_bilinear(const Attributes& attributes);

// Selu-1: the defaults of its attributes, later given to more digits.
constexpr float first_selu_alpha = 1.6732F, first_selu_gamma = 1.0507F;

// Cast-1 names its element type ("FLOAT"): the number of later versions. Unsupported for an unknown name.
int64_t first_cast_target(const Attributes& attributes);

// LpPool-1 and GlobalLpPool-1: an exponent that need not be whole.
double norm_exponent(const Attributes& attributes, int version);

// BatchNormalization before opset 9: statistics for each element of an image (spatial = 0), not for each channel.
bool has_statistics_per_element(const Attributes& attributes, int version);

}  // namespace headway
