// The equation of an Einsum.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tensor/attributes.h"
#include "tensor/shape.h"

namespace headway {

// Subscripts of each operand and of the result, an ellipsis spelt out with labels of its own.
struct Equation {
    std::vector<std::vector<int>> operands;
    std::vector<int> result;
    std::map<int, int64_t> extents;
};

// UserError when the equation is malformed or does not fit the operands.
Equation parse_equation(const Attributes& attributes, const std::vector<Shape>& shapes);

}  // namespace headway
