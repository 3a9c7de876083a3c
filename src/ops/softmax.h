// Softmax of one line of doubles, and which elements make a line, for the operators that hold it inside themselves:
// attention and losses.
#pragma once

#include <span>

#include "ops/rows.h"

namespace headway {

// exp(x) / sum(exp(x)) in place. A line with NaN, or of -infinity only, becomes NaN.
void softmax_line(std::span<double> line);

// The lines of Softmax of that opset version by attribute axis.
Lines softmax_lines(const Attributes& attributes, int version, const Shape& shape);

// Logarithm of softmax_line, without computing it.
void log_softmax_line(std::span<double> line);

}  // namespace headway
