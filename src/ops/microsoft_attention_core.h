// What ONNX Runtime's operators Attention, MultiHeadAttention, GroupQueryAttention and QAttention share: heads from
// rows of projections, the past before them, and what is added to the scores.
#pragma once

#include <functional>
#include <vector>

#include "ops/attention_core.h"
#include "ops/op.h"

namespace headway {

// Batch x heads x length x size in double.
struct HeadTensor {
    Heads form;
    std::vector<double> values;
};

// Heads that lie side by side in rows (batch x length x `width` values), the first head from column `first` on.
HeadTensor split_heads(const std::vector<double>& rows, const Heads& form, int64_t width, int64_t first);

// The heads of `now` behind those of a tensor of shape batch x heads x past length x size at `past`.
HeadTensor behind_past(const double* past, int64_t past_length, const HeadTensor& now);

// Added to the score of a key for a query, by image, head, query and key.
using ScoreBias = std::function<double(int64_t image, int64_t head, int64_t row, int64_t key)>;

// The inputs that hide or favour keys, where they are present.
struct ScoreMask {
    size_t mask_input, bias_input;
    int64_t past = 0;  // length of what came before the queries, for attribute unidirectional

    // UserError or Unsupported unless the mask (i32: lengths or [end, begin) of each image; batch x keys; batch x
    // queries x keys) and the bias (broadcast over images and heads) fit the scores of shape batch x heads x queries x
    // keys.
    void check(const InferContext& context, const Shape& scores) const;
    // Masked keys get attribute mask_filter_value (-10000 by default), later ones the least f32.
    ScoreBias read(const ReferenceContext& context, const Shape& scores) const;
};

// Softmax(scale * q * k^T + bias) * v, as batch x queries x (heads * size). Heads of queries share those of keys in
// groups. `weights`, where it is given, gets the softmax.
std::vector<double> attend(const HeadTensor& q, const HeadTensor& k, const HeadTensor& v, double scale,
                           const ScoreBias& bias, std::vector<double>* weights = nullptr);

// Attribute num_heads; UserError unless it divides the width.
int64_t head_count(const Attributes& attributes, const char* name, int64_t width);

// Attribute scale; 0, which ONNX Runtime reads as absent, and absence give 1 / sqrt(size of a head).
double microsoft_attention_scale(const Attributes& attributes, int64_t size);

}  // namespace headway
