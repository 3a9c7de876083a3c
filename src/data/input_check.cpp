#include "data/input_check.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

constexpr int64_t least_elements = 64;
constexpr double least_entropy = 0.25;
constexpr size_t repeated_values = 2;

}  // namespace

ByteHistogram byte_histogram(const Tensor& tensor) {
    std::array<int64_t, 256> counts{};
    for (const std::byte byte : tensor.bytes()) ++counts[static_cast<size_t>(byte)];
    ByteHistogram histogram;
    for (const int64_t count : counts) {
        if (count == 0) continue;
        ++histogram.distinct;
        const double share = static_cast<double>(count) / static_cast<double>(tensor.size_bytes());
        histogram.entropy -= share * std::log2(share);
    }
    return histogram;
}

std::optional<std::string> too_uniform(const Sample& sample, std::span<const PortSpec> inputs) {
    HEADWAY_CHECK(sample.inputs.size() == inputs.size());
    size_t bytes = 0, uniform_bytes = 0, largest = 0;
    std::string worst;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Tensor& tensor = sample.inputs[i];
        if (!is_float(tensor.type()) || tensor.elements() < least_elements) continue;
        bytes += tensor.size_bytes();
        const ByteHistogram histogram = byte_histogram(tensor);
        const bool varied = static_cast<size_t>(histogram.distinct) > repeated_values * size_of(tensor.type());
        if (varied && histogram.entropy >= least_entropy) continue;
        uniform_bytes += tensor.size_bytes();
        if (tensor.size_bytes() <= largest) continue;
        largest = tensor.size_bytes();
        char bits[16];
        std::snprintf(bits, sizeof bits, "%.1f", histogram.entropy);
        worst = "input " + escaped(inputs[i].name) + " of " + escaped(sample.origin) + " holds " + bits +
                " bits of information per byte; real data give another speed";
    }
    if (uniform_bytes == 0 || 2 * uniform_bytes < bytes) return std::nullopt;
    return worst;
}

}  // namespace headway
