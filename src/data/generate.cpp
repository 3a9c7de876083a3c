#include "base/error.h"
#include "base/text.h"
#include "data/samples.h"
#include "tensor/random.h"

namespace headway {
namespace {

constexpr uint64_t integer_values = 2;

Tensor generate(const PortSpec& port, uint64_t seed) {
    if (port.value) return *port.value;
    const Shape shape(*port.dims);
    if (is_float(port.type) || port.type == ElementType::boolean) return random_tensor(port.type, shape, seed);
    Tensor tensor(port.type, shape);
    Rng rng(seed);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(rng.below(integer_values)));
    return tensor;
}

bool is_static(const PortSpec& port) {
    if (port.value) return true;
    if (!port.dims) return false;
    for (const int64_t dim : *port.dims)
        if (dim < 0) return false;
    return true;
}

}  // namespace

std::vector<Sample> generate_samples(std::span<const PortSpec> inputs, int count, uint64_t seed) {
    std::string unknown;
    for (const PortSpec& port : inputs)
        if (!is_static(port)) unknown += (unknown.empty() ? "\"" : ", \"") + escaped(port.name) + "\"";
    if (!unknown.empty())
        throw UserError("the shape of input " + unknown +
                        " is not fully known; give --shape NAME=1x3x224x224 or --data");
    std::vector<Sample> samples;
    for (int k = 0; k < count; ++k) {
        Sample sample{"generated inputs " + std::to_string(k), {}, {}};
        for (size_t i = 0; i < inputs.size(); ++i) {
            Hasher hasher;
            hasher.add(static_cast<int64_t>(seed)).add(int64_t{k}).add(static_cast<int64_t>(i));
            sample.inputs.push_back(generate(inputs[i], hasher.finish().low));
        }
        samples.push_back(std::move(sample));
    }
    return samples;
}

}  // namespace headway
