// The operator that attentions are compiled into: passes make it, files do not hold it.
#include <cmath>
#include <limits>

#include "kernels/cpu/attention/form.h"
#include "ops/attention_core.h"
#include "ops/doubles.h"
#include "ops/op.h"
#include "ops/product.h"

namespace headway {
namespace {

AttentionForm strided_form(const Attributes& attributes, std::span<const std::optional<TensorDesc>> src) {
    AttentionForm form;
    if (const Verdict verdict = read_attention(attributes, src, form); !verdict)
        throw UserError("its attributes do not fit: " + verdict.text());
    return form;
}

void infer_strided_attention(InferContext& context) {
    std::vector<std::optional<TensorDesc>> src;
    for (size_t i = 0; i < context.input_count(); ++i) {
        src.emplace_back();
        if (context.has(i)) src.back() = {context.type(i), context.shape(i), Layout::plain};
    }
    for (size_t i : {attention_k, attention_v})
        if (context.has(i) && context.type(i) != context.type(attention_q))
            throw UserError("its queries, keys and values have different types");
    context.set_output(0, context.type(attention_q), strided_form(context.attributes(), src).y_shape);
}

// A matrix of one head in rows.
std::vector<double> head_matrix(const std::vector<double>& tensor, const AttentionForm& form,
                                const HeadMatrices& matrices, int64_t head, int64_t rows, int64_t columns) {
    std::vector<double> matrix;
    matrix.reserve(static_cast<size_t>(rows * columns));
    const int64_t first = form.at(matrices, head);
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
            matrix.push_back(tensor[static_cast<size_t>(first + row * matrices.row + column * matrices.column)]);
    return matrix;
}

void mask_scores(const AttentionForm& form, const std::vector<double>& mask, int64_t head,
                 std::vector<double>& scores) {
    for (int64_t query = 0; query < form.queries; ++query)
        for (int64_t key = 0; key < form.keys; ++key) {
            double& score = scores[static_cast<size_t>(query * form.keys + key)];
            if (form.mask_kind != AttentionForm::Mask::none) {
                const double value = mask[static_cast<size_t>(form.at(form.mask, head) + query * form.mask.row +
                                                              key * form.mask.column)];
                if (form.mask_kind == AttentionForm::Mask::add)
                    score += value;
                else if ((value != 0) == (form.mask_kind == AttentionForm::Mask::hide))
                    score = form.hidden;
            }
            if (key >= form.visible(query)) score = -std::numeric_limits<double>::infinity();
        }
}

void strided_attention_reference(const ReferenceContext& context) {
    std::vector<std::optional<TensorDesc>> src;
    std::vector<std::vector<double>> values;
    for (const Tensor* input : context.inputs) {
        src.emplace_back();
        values.emplace_back();
        if (input == nullptr) continue;
        src.back() = {input->type(), input->shape(), Layout::plain};
        values.back() = doubles_of(*input);
    }
    const AttentionForm form = strided_form(context.attributes, src);
    if (form.y_shape.elements() == 0) return;  // of which there may be any number of heads
    const Heads q{1, 1, form.queries, form.size}, k{1, 1, form.keys, form.size};
    std::vector<double> scores = zeros(form.queries * form.keys);
    std::vector<double> rows = zeros(form.queries * form.value_size);
    std::vector<double> y = zeros(form.y_shape.elements());
    for (int64_t head = 0; head < form.heads(); ++head) {
        attention_scores(head_matrix(values[attention_q], form, form.q, head, form.queries, form.size).data(), q,
                         head_matrix(values[attention_k], form, form.k, head, form.keys, form.size).data(), k,
                         form.scale, scores.data());
        mask_scores(form, form.mask_kind == AttentionForm::Mask::none ? std::vector<double>{} : values[attention_mask],
                    head, scores);
        if (form.keys > 0) softmax_rows(scores, form.keys);
        if (form.nan_to_zero)
            for (double& score : scores) score = std::isnan(score) ? 0 : score;
        multiply(scores.data(), head_matrix(values[attention_v], form, form.v, head, form.keys, form.value_size).data(),
                 rows.data(), form.queries, form.value_size, form.keys);
        const int64_t first = form.at(form.y, head);
        for (int64_t query = 0; query < form.queries; ++query)
            for (int64_t column = 0; column < form.value_size; ++column)
                y[static_cast<size_t>(first + query * form.y.row + column * form.y.column)] =
                    rows[static_cast<size_t>(query * form.value_size + column)];
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op strided_attention_op{{
    .name = "StridedAttention",
    .domain = "headway",
    .since = {1},
    .inputs = {3, 4},
    .types = float_types,
    .attributes = {{"batch", "ints", "", "extents over which there is a head each"},
                   {"causal", "int", "", "query i sees the keys up to i + causal; absent: all"},
                   {"extents", "ints", "", "queries, keys, size of a key, size of a value"},
                   {"hidden", "float", "0.0", "score of keys that a mask of booleans hides"},
                   {"k", "ints", "",
                    "where keys lie: offset, a step for each axis of batch, from key to key, along one"},
                   {"mask", "ints", "", "the same of the mask, for queries and keys"},
                   {"mask_kind", "string", "none",
                    "add: to the scores; keep, hide: keys are seen where it is true, false"},
                   {"nan_to_zero", "int", "0", "1: rows without a sum are zeros"},
                   {"q", "ints", "", "the same of queries"},
                   {"scale", "float", "1.0", "factor of the products"},
                   {"shape", "ints", "", "shape of the output"},
                   {"v", "ints", "", "the same of values"},
                   {"y", "ints", "", "the same of the output"}},
    .infer = infer_strided_attention,
    .reference = strided_attention_reference,
    .help = "Softmax(scale * q * k^T, masked) * v for each head, operands seen through strides. Passes make it from "
            "attentions in any spelling.",
}};

}  // namespace headway
