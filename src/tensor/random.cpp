#include "tensor/random.h"

#include <cmath>

namespace headway {

double nearly_normal(Rng& rng) {
    int64_t sum = 0;
    for (int word = 0; word < 3; ++word) {
        const uint64_t bits = rng.next();
        for (int part = 0; part < 4; ++part) sum += static_cast<int64_t>((bits >> (16 * part)) & 0xFFFF);
    }
    return static_cast<double>(2 * sum + 12 - 12 * 65536) / (2 * 65536.0);
}

Tensor random_tensor(ElementType type, const Shape& shape, uint64_t seed, double deviation, int64_t limit_bytes) {
    Tensor tensor(type, shape, limit_bytes);
    Rng rng(seed);
    const int64_t count = tensor.elements();
    const bool is_unsigned = type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32 ||
                             type == ElementType::u64 || type == ElementType::u4 || type == ElementType::u2;
    for (int64_t i = 0; i < count; ++i) {
        if (type == ElementType::f8e8m0)  // has no numbers around zero
            tensor.set(i, std::ldexp(1.0, static_cast<int>(rng.below(9)) - 4));
        else if (is_float(type))
            tensor.set(i, deviation * nearly_normal(rng));
        else if (type == ElementType::boolean)
            tensor.set(i, rng.coin() ? 1 : 0);
        else
            tensor.set(i, static_cast<double>(rng.below(is_unsigned ? 8 : 9)) - (is_unsigned ? 0 : 4));
    }
    return tensor;
}

}  // namespace headway
