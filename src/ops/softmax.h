// Softmax of one line of doubles, for the operators that hold it inside themselves: attention and losses.
#pragma once

#include <span>

namespace headway {

// exp(x) / sum(exp(x)) in place. A line with NaN, or of -infinity only, becomes NaN.
void softmax_line(std::span<double> line);

// Logarithm of softmax_line, without computing it.
void log_softmax_line(std::span<double> line);

}  // namespace headway
