#include "tensor/random.h"

namespace headway {

uint64_t Random::next() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

uint64_t Random::below(uint64_t bound) { return next() % bound; }

double Random::normal() {
    int64_t sum = 0;
    for (int word = 0; word < 3; ++word) {
        const uint64_t bits = next();
        for (int part = 0; part < 4; ++part) sum += static_cast<int64_t>((bits >> (16 * part)) & 0xFFFF);
    }
    return static_cast<double>(2 * sum + 12 - 12 * 65536) / (2 * 65536.0);
}

Tensor random_tensor(ElementType type, const Shape& shape, uint64_t seed, double deviation, int64_t limit_bytes) {
    Tensor tensor(type, shape, limit_bytes);
    Random random(seed);
    const int64_t count = tensor.elements();
    const bool is_unsigned = type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32 ||
                             type == ElementType::u64;
    for (int64_t i = 0; i < count; ++i) {
        if (is_float(type))
            tensor.set(i, deviation * random.normal());
        else if (type == ElementType::boolean)
            tensor.set(i, static_cast<double>(random.below(2)));
        else
            tensor.set(i, static_cast<double>(random.below(is_unsigned ? 8 : 9)) - (is_unsigned ? 0 : 4));
    }
    return tensor;
}

}  // namespace headway
