// Strings as numbers, for references that move, compare or order elements without looking into them: of the distinct
// strings of a node's inputs and "", in the order of their bytes, each is its position. "" is thus 0, the element that
// padding and empty outputs have by themselves.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tensor/datum.h"

namespace headway {

class StringRanks {
public:
    // f64, as no operator takes such a tensor for indices, axes or conditions.
    static constexpr ElementType type = ElementType::f64;

    // The inputs (absent ones are nullptr) must outlive it.
    explicit StringRanks(std::span<const Datum* const> inputs);

    Tensor ranks(const Strings& strings) const;
    Strings strings(const Tensor& ranks) const;

private:
    std::vector<std::string_view> sorted_;
};

}  // namespace headway
