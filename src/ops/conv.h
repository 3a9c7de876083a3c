// What Conv and its kin on integers and with offsets share: windows and output shape from attributes and weights, and
// the convolution itself on doubles, which holds 8-bit integers exactly.
#pragma once

#include <vector>

#include "ops/op.h"
#include "ops/window.h"

namespace headway {

// The windows of weights w over an input x; UserError when the attributes do not fit them.
std::vector<Window> conv_windows(const Attributes& attributes, const Shape& x, const Shape& w);

// Images x output channels x extents; UserError when channels and groups do not fit.
Shape conv_shape(const Attributes& attributes, const Shape& x, const Shape& w);

struct ConvOperand {
    Shape shape;
    std::vector<double> values;
};

// The convolution of operands that conv_shape accepts; bias has one value per output channel or none at all.
std::vector<double> convolve(const Attributes& attributes, const ConvOperand& x, const ConvOperand& w,
                             const std::vector<double>& bias);

std::vector<AttributeDoc> conv_attributes();

}  // namespace headway
