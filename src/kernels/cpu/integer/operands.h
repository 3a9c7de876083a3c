// Inputs of one step wherever they are: packed constants in the order of pack(), all else at their ONNX positions.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/kernel.h"

namespace headway {

// MatMulInteger and ConvInteger: a, b, a's zero point, b's zero points.
class IntegerOperands {
public:
    IntegerOperands() = default;
    explicit IntegerOperands(const Problem& problem);

    bool has(size_t input) const { return present_[input]; }
    bool is_constant(size_t input) const { return packed_[input] >= 0; }
    // nullptr when it is absent. Of a constant b: its panels.
    const std::byte* at(const Args& args, size_t input) const {
        if (!present_[input]) return nullptr;
        return packed_[input] >= 0 ? args.packed[packed_[input]] : args.src[input];
    }
    // Sums of the columns of a constant b.
    const int32_t* sums(const Args& args) const {
        return reinterpret_cast<const int32_t*>(args.packed[packed_[1] + 1]);
    }

private:
    std::array<bool, 4> present_{};
    std::array<int, 4> packed_{-1, -1, -1, -1};
};

// Types, layouts and zero points: one for a, one or `columns` for b.
Verdict check_integer_operands(const Problem& problem, int64_t columns);

// The blobs of constants: `b` of a constant b is its panels and their sums.
std::vector<Tensor> pack_integers(const Problem& problem, std::span<const Tensor* const> constants,
                                  std::vector<Tensor> b);

}  // namespace headway
