#include "ops/microsoft_attention_core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/doubles.h"
#include "ops/product.h"
#include "ops/strided.h"

namespace headway {
namespace {

bool masks_key(const std::vector<int64_t>& mask, const Shape& shape, const Shape& scores, int64_t image, int64_t row,
               int64_t key) {
    const int64_t batch = scores[0];
    const int64_t keys = scores[3];
    const auto at = [&](int64_t index) { return mask[static_cast<size_t>(index)]; };
    if (shape.rank() == 1) {
        const int64_t begin = shape[0] == 2 * batch ? at(batch + image) : 0;
        return key < begin || key >= at(image);
    }
    if (shape.rank() == 2) return at(image * keys + key) == 0;
    return at((image * scores[2] + row) * keys + key) == 0;
}

}  // namespace

HeadTensor split_heads(const std::vector<double>& rows, const Heads& form, int64_t width, int64_t first) {
    HeadTensor heads{form, std::vector<double>(static_cast<size_t>(form.shape().elements()))};
    double* next = heads.values.data();
    for (int64_t image = 0; image < form.batch; ++image)
        for (int64_t head = 0; head < form.heads; ++head)
            for (int64_t row = 0; row < form.length; ++row, next += form.size)
                std::copy_n(rows.data() + (image * form.length + row) * width + first + head * form.size, form.size,
                            next);
    return heads;
}

HeadTensor behind_past(const double* past, int64_t past_length, const HeadTensor& now) {
    HeadTensor all{now.form, {}};
    all.form.length += past_length;
    all.values.reserve(static_cast<size_t>(all.form.shape().elements()));
    const int64_t before = past_length * now.form.size;
    const double* next = now.values.data();
    for (int64_t head = 0; head < now.form.batch * now.form.heads; ++head, next += now.form.head_elements()) {
        all.values.insert(all.values.end(), past + head * before, past + (head + 1) * before);
        all.values.insert(all.values.end(), next, next + now.form.head_elements());
    }
    return all;
}

void ScoreMask::check(const InferContext& context, const Shape& scores) const {
    if (context.has(mask_input)) {
        const Shape& mask = context.shape(mask_input);
        if (context.type(mask_input) != ElementType::i32) throw UserError("its mask is not i32");
        if (mask.rank() == 4) throw Unsupported("a mask of four axes is not handled");
        const bool fits = mask == Shape{scores[0]} || mask == Shape{2 * scores[0]} ||
                          mask == Shape{scores[0], scores[3]} || mask == Shape{scores[0], scores[2], scores[3]};
        if (!fits) throw UserError("its mask of " + mask.text() + " does not fit scores of " + scores.text());
    }
    if (!context.has(bias_input)) return;
    const Shape& bias = context.shape(bias_input);
    if (bias.rank() != 4 || bias[2] != scores[2] || bias[3] != scores[3] || broadcast(bias, scores) != scores)
        throw UserError("its attention_bias of " + bias.text() + " does not fit scores of " + scores.text());
}

ScoreBias ScoreMask::read(const ReferenceContext& context, const Shape& scores) const {
    std::vector<int64_t> mask;
    Shape mask_shape;
    std::vector<double> bias;
    Strides strides;
    if (context.has(mask_input)) {
        mask = context.in(mask_input).to_int64();
        mask_shape = context.in(mask_input).shape();
    }
    if (context.has(bias_input)) {
        bias = doubles_of(context.in(bias_input));
        strides = broadcast_strides(context.in(bias_input).shape(), scores);
    }
    const bool has_mask = context.has(mask_input);
    const double filter = context.attributes.real("mask_filter_value", -10000.0F);
    const bool is_causal = context.attributes.integer("unidirectional", 0) != 0;
    return [=, before = past](int64_t image, int64_t head, int64_t row, int64_t key) {
        if (is_causal && key > before + row) return static_cast<double>(std::numeric_limits<float>::lowest());
        double added = has_mask && masks_key(mask, mask_shape, scores, image, row, key) ? filter : 0;
        if (!strides.empty())
            added +=
                bias[static_cast<size_t>(image * strides[0] + head * strides[1] + row * strides[2] + key * strides[3])];
        return added;
    };
}

std::vector<double> attend(const HeadTensor& q, const HeadTensor& k, const HeadTensor& v, double scale,
                           const ScoreBias& bias, std::vector<double>* weights) {
    const int64_t width = q.form.heads * v.form.size;
    std::vector<double> y = zeros(q.form.batch * q.form.length * width);
    std::vector<double> scores = zeros(q.form.length * k.form.length);
    std::vector<double> values = zeros(q.form.length * v.form.size);
    for (int64_t pair = 0; pair < q.form.batch * q.form.heads; ++pair) {
        const int64_t image = pair / q.form.heads;
        const int64_t head = pair % q.form.heads;
        const int64_t kv_pair = pair * k.form.heads / q.form.heads;
        attention_scores(q.values.data() + pair * q.form.head_elements(), q.form,
                         k.values.data() + kv_pair * k.form.head_elements(), k.form, scale, scores.data());
        for (int64_t row = 0; row < q.form.length; ++row)
            for (int64_t key = 0; key < k.form.length; ++key)
                scores[static_cast<size_t>(row * k.form.length + key)] += bias(image, head, row, key);
        softmax_rows(scores, k.form.length);
        if (weights != nullptr) weights->insert(weights->end(), scores.begin(), scores.end());
        multiply(scores.data(), v.values.data() + kv_pair * v.form.head_elements(), values.data(), q.form.length,
                 v.form.size, k.form.length);
        for (int64_t row = 0; row < q.form.length; ++row)
            std::copy_n(values.data() + row * v.form.size, v.form.size,
                        y.data() + (image * q.form.length + row) * width + head * v.form.size);
    }
    return y;
}

int64_t head_count(const Attributes& attributes, const char* name, int64_t width) {
    const int64_t heads = attributes.integer(name, 0);
    if (heads < 1 || width % heads != 0)
        throw UserError("attribute " + std::string(name) + " of " + std::to_string(heads) + " does not divide " +
                        std::to_string(width) + " values");
    return heads;
}

double microsoft_attention_scale(const Attributes& attributes, int64_t size) {
    const double scale = attributes.real("scale", 0);
    return scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : scale;
}

}  // namespace headway
