#include "ops/random_draws.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace headway {

Rng seeded_rng(const Attributes& attributes) {
    const AttributeValue* seed = attributes.find("seed");
    if (seed != nullptr && std::holds_alternative<float>(*seed))
        return Rng(std::bit_cast<uint32_t>(attributes.real("seed", 0)));
    return Rng(static_cast<uint64_t>(attributes.integer("seed", 0)));
}

double normal_draw(Rng& rng) {
    const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));  // the argument lies in (0, 1]
    return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

}  // namespace headway
