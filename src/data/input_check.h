// Whether inputs are fit to time an engine on. Zeros and constants run faster than real data: they toggle few bits, so
// power and clocks differ, and branches and denormals never meet what they will meet in use.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "data/samples.h"

namespace headway {

// The histogram of a tensor's bytes.
struct ByteHistogram {
    int distinct = 0;    // byte values that occur
    double entropy = 0;  // Shannon's, in bits per byte: 0..8; 0 for an empty tensor
};
ByteHistogram byte_histogram(const Tensor& tensor);

// Why a claim about speed cannot rest on this sample: at least half of the bytes of its floating-point inputs lie in
// inputs that are nearly all zero (under a quarter of a bit per byte) or hold no more different bytes than two values
// repeated could. Sparse images pass. Inputs of fewer than 64 elements do not count, nor do integers: tokens and masks
// may repeat.
std::optional<std::string> too_uniform(const Sample& sample, std::span<const PortSpec> inputs);

}  // namespace headway
