// For the tests of 8-bit kernels: bytes as numbers, and convolutions by plain loops. Included by tests only.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel_testing.h"

namespace headway::testing {

inline constexpr ElementType byte_types[] = {ElementType::u8, ElementType::i8};

inline int64_t number(uint8_t bits, ElementType type) {
    return type == ElementType::i8 ? static_cast<int8_t>(bits) : bits;
}

// A convolution: shapes x and w, and strides, pads, dilations and group as the operator has them. What else a test
// varies, it adds in a type of its own.
template <class Conv>
void set_attributes(Problem& problem, const Conv& conv) {
    problem.attributes.set("strides", conv.strides);
    problem.attributes.set("pads", conv.pads);
    problem.attributes.set("dilations", conv.dilations);
    problem.attributes.set("group", conv.group);
}

template <class Conv>
Shape result_of(const Conv& conv) {
    std::vector<int64_t> dims{conv.x[0], conv.w[0]};
    const size_t spatial = conv.x.rank() - 2;
    for (size_t i = 0; i < spatial; ++i) {
        const int64_t window = (conv.w[i + 2] - 1) * conv.dilations[i] + 1;
        dims.push_back((conv.x[i + 2] + conv.pads[i] + conv.pads[i + spatial] - window) / conv.strides[i] + 1);
    }
    return Shape(dims);
}

// Calls visit(channel, sum) for each element of the result in plain order, with the sum of product(offset in x, offset
// in w, channel) under its window. Padding adds nothing: it stands for zero.
template <class Conv, class Product, class Visit>
void for_each_sum(const Conv& conv, Product product, Visit visit) {
    const Shape kernel(std::vector<int64_t>(conv.w.begin() + 1, conv.w.end()));
    const std::vector<int64_t> x_strides = conv.x.strides();
    for_each_index(result_of(conv), [&](const std::vector<int64_t>& at, int64_t) {
        const int64_t channel = at[1], first = channel / (conv.w[0] / conv.group) * conv.w[1];
        int64_t sum = 0;
        for_each_index(kernel, [&](const std::vector<int64_t>& tap, int64_t position) {
            int64_t offset = at[0] * x_strides[0] + (first + tap[0]) * x_strides[1];
            for (size_t i = 0; i + 2 < conv.x.rank(); ++i) {
                const int64_t place = at[i + 2] * conv.strides[i] - conv.pads[i] + tap[i + 1] * conv.dilations[i];
                if (place < 0 || place >= conv.x[i + 2]) return;
                offset += place * x_strides[i + 2];
            }
            sum += product(static_cast<size_t>(offset), static_cast<size_t>(channel * kernel.elements() + position),
                           channel);
        });
        visit(channel, sum);
    });
}

}  // namespace headway::testing
