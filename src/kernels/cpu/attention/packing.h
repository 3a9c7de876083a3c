// Keys and values of one head, packed for the register tiles of gemm/micro.h, and products of rows with them.
#pragma once

#include <cstdint>

#include "kernels/cpu/attention/attention_ops.h"
#include "kernels/cpu/attention/form.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/layout/copy_ops.h"

namespace headway {

// k^T: `size` rows of `keys` columns.
void pack_keys(const Panels& panels, const AttentionForm& form, const float* k, const AttentionOps& ops,
               const CopyOps& copies, float* packed);
// v: `keys` rows of `value_size` columns.
void pack_values(const Panels& panels, const AttentionForm& form, const float* v, const AttentionOps& ops,
                 float* packed);

// c (+)= a * b over rows [k_begin, k_end) of a packed b and its panels [panel_begin, panel_end).
struct PanelProduct {
    const GemmMicro& micro;
    const Panels& panels;
    const float* packed;
    int64_t k_begin, k_end;
    size_t panel_begin, panel_end;
    const float* zeros;  // as many as a tile is wide; nullptr to add onto c
    // rows[r] leads to the values of a for k_begin and after; c to those for the first panel.
    void run(const float* const* rows, int64_t count, float* c, int64_t c_step) const;
};

}  // namespace headway
