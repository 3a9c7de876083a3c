// Scaled dot-product attention on heads of doubles: the core of Attention and FlexAttention.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/attributes.h"
#include "tensor/shape.h"

namespace headway {

// batch x heads x length x size.
struct Heads {
    int64_t batch = 0, heads = 0, length = 0, size = 0;

    int64_t head_elements() const { return length * size; }
    Shape shape() const { return {batch, heads, length, size}; }
};

// UserError unless keys and values belong together and to the queries, whose heads share theirs in groups of equal
// size.
void require_fitting_heads(const Heads& q, const Heads& k, const Heads& v);

// Attribute softmax_precision, or the fallback; UserError unless it is a floating-point type.
ElementType softmax_precision(const Attributes& attributes, ElementType fallback);

// Attribute scale, or 1 / sqrt(size of a head). ONNX multiplies queries and keys by its root, so a negative one is a
// UserError.
double attention_scale(const Attributes& attributes, int64_t size);

// scores[q.length][k.length] = scale * q * transposed k, for one head at q and k each.
void attention_scores(const double* q, const Heads& q_form, const double* k, const Heads& k_form, double scale,
                      double* scores);

// Softmax of each row of `keys` scores.
void softmax_rows(std::vector<double>& scores, int64_t keys);

}  // namespace headway
