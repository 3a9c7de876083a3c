// What an attention computes and where its operands lie: the attributes of operator headway/StridedAttention as
// numbers.
//
//   y = softmax(scale * q * k^T + mask) * v       for each head
//
// Every operand is a plain tensor seen through strides, so that reshapes, transposes, slices and broadcasts around an
// attention need no copies: heads may lie side by side in the rows of a projection, queries, keys and values in one
// tensor, and several heads of queries may share one of keys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/verdict.h"
#include "tensor/attributes.h"
#include "tensor/layout.h"

namespace headway {

// Where a matrix of each head lies in a tensor, in elements.
struct HeadMatrices {
    int64_t offset = 0;
    std::vector<int64_t> batch;  // steps along AttentionForm::batch
    int64_t row = 0, column = 0;
};

struct AttentionForm {
    // What a mask does to scores: is added to them; or, where it is true (hide) or false (keep), puts `hidden` there.
    enum class Mask : uint8_t { none, add, keep, hide };

    std::vector<int64_t> batch;  // extents over which there is a head each
    int64_t queries = 0, keys = 0, size = 0, value_size = 0;
    HeadMatrices q, k, v, mask, y;  // queries x size, keys x size, keys x value_size, queries x keys
    Shape y_shape;
    float scale = 1;
    Mask mask_kind = Mask::none;
    float hidden = 0;
    std::optional<int64_t> causal;  // query i sees the keys up to i + causal
    bool nan_to_zero = false;       // rows that see no key, or hold NaN, become zeros

    int64_t heads() const;
    int64_t at(const HeadMatrices& matrices, int64_t head) const;  // offset of a head's matrix
    int64_t visible(int64_t query) const;                          // how many keys it sees
};

enum AttentionSrc : size_t { attention_q, attention_k, attention_v, attention_mask };

Attributes attention_attributes(const AttentionForm& form);
// Fills `form`, or says what is wrong with the attributes; a yes means that all which they speak of lies inside the
// operands, and that y is written once.
Verdict read_attention(const Attributes& attributes, std::span<const std::optional<TensorDesc>> src,
                       AttentionForm& form);

}  // namespace headway
