#include "ops/doubles.h"

#include "base/checked.h"
#include "base/limits.h"
#include "ops/element.h"
#include "ops/types.h"

namespace headway {

std::vector<double> zeros(int64_t count) {
    static_cast<void>(MemoryClaim(checked_mul(count, sizeof(double), "values of a reference")));
    return std::vector<double>(static_cast<size_t>(count));
}

std::vector<double> doubles_of(const Tensor& tensor) {
    std::vector<double> values = zeros(tensor.elements());
    if (!float_types.contains(tensor.type())) {
        for (size_t i = 0; i < values.size(); ++i) values[i] = tensor.at(static_cast<int64_t>(i));
        return values;
    }
    visit_float(tensor.type(), [&]<class E>(E) {
        const auto* from = stored<typename E::Storage>(tensor);
        for (size_t i = 0; i < values.size(); ++i) values[i] = E::load(from[i]);
    });
    return values;
}

void store_doubles(const std::vector<double>& values, Tensor& tensor) {
    HEADWAY_CHECK(static_cast<int64_t>(values.size()) == tensor.elements());
    if (!float_types.contains(tensor.type())) {
        for (size_t i = 0; i < values.size(); ++i) tensor.set(static_cast<int64_t>(i), values[i]);
        return;
    }
    visit_float(tensor.type(), [&]<class E>(E) {
        auto* to = stored<typename E::Storage>(tensor);
        for (size_t i = 0; i < values.size(); ++i) to[i] = E::store(values[i]);
    });
}

}  // namespace headway
