// The node headway/StridedAttention from what an attention consists of: operands as values, in any of the ways in which
// models lay heads out.
#pragma once

#include <optional>

#include "base/verdict.h"
#include "kernels/cpu/attention/form.h"
#include "passes/pass.h"
#include "passes/strided_view.h"

namespace headway {

// Operands of a batched product softmax(scale * q * k^T, masked) * v, with the axes of MatMul: batch ..., rows,
// columns.
struct AttentionParts {
    StridedView q, k, v;              // k with keys as rows
    std::optional<StridedView> mask;  // broadcasts to batch ..., queries, keys
    AttentionForm::Mask mask_kind = AttentionForm::Mask::none;
    float hidden = 0;
    double scale = 1;
    std::optional<int64_t> causal;
    bool nan_to_zero = false;
    StridedView y;  // of the shape batch ..., queries, value size; steps are those in the value that is computed
    ValueId result = no_value;
};

// Puts the node in the place of what computes `result` now, or says why the operands do not fit one.
Verdict append_attention(PassContext& context, const AttentionParts& parts, std::vector<std::string> origins);

}  // namespace headway
