#include "ops/attention_core.h"

#include <cmath>
#include <span>

#include "base/error.h"
#include "ops/doubles.h"
#include "ops/product.h"
#include "ops/softmax.h"
#include "ops/types.h"

namespace headway {

void require_fitting_heads(const Heads& q, const Heads& k, const Heads& v) {
    if (k.batch != q.batch || v.batch != q.batch || k.size != q.size || v.heads != k.heads || v.length != k.length)
        throw UserError("its queries of " + q.shape().text() + ", keys of " + k.shape().text() + " and values of " +
                        v.shape().text() + " (batch x heads x length x size) do not fit");
    if (k.heads < 1 || q.heads % k.heads != 0)
        throw UserError(std::to_string(q.heads) + " heads of queries cannot share " + std::to_string(k.heads) +
                        " heads of keys");
}

ElementType softmax_precision(const Attributes& attributes, ElementType fallback) {
    const int64_t number = attributes.integer("softmax_precision", static_cast<int64_t>(fallback));
    if (number < 0 || number > 31 || !float_types.contains(static_cast<ElementType>(number)))
        throw UserError("attribute softmax_precision is no floating-point type");
    return static_cast<ElementType>(number);
}

double attention_scale(const Attributes& attributes, int64_t size) {
    if (!attributes.has("scale")) return 1 / std::sqrt(static_cast<double>(size));
    const double scale = attributes.real("scale", 1);
    if (scale < 0) throw UserError("attribute scale is negative");
    return scale;
}

void attention_scores(const double* q, const Heads& q_form, const double* k, const Heads& k_form, double scale,
                      double* scores) {
    std::vector<double> columns = zeros(k_form.head_elements());
    for (int64_t row = 0; row < k_form.length; ++row)
        for (int64_t i = 0; i < k_form.size; ++i)
            columns[static_cast<size_t>(i * k_form.length + row)] = scale * k[row * k_form.size + i];
    multiply(q, columns.data(), scores, q_form.length, k_form.length, q_form.size);
}

void softmax_rows(std::vector<double>& scores, int64_t keys) {
    const auto length = static_cast<size_t>(keys);
    for (size_t first = 0; first < scores.size(); first += length)
        softmax_line(std::span(scores).subspan(first, length));
}

}  // namespace headway
