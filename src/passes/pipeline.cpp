// The order of the passes, and why.
#include <vector>

#include "passes/manager.h"

namespace headway {

const std::vector<PhasePlan>& pipeline() {
    static const std::vector<PhasePlan> plan{
        // Rewrite: simpler graphs with the same meaning, repeated until nothing changes.
        {Phase::rewrite,
         true,
         {
             // Products on integers, before their weights are folded into numbers.
             "rewrite_qdq_integer",
             // Clean-up first, so that the patterns after it see few spellings.
             "fold_constants",
             "eliminate_identity",
             "eliminate_common",
             // Another runtime's fused operators, so that the passes below see what they were made of.
             "rewrite_microsoft",
             // Operators without kernels, by operators that have some.
             "rewrite_third_axis",
             "rewrite_normalizations",
             "rewrite_activations",
             "rewrite_depth_to_space",
             "rewrite_einsum",
             "rewrite_attention",
             // Operators that were spelled out, before the affine passes merge their constants away.
             "rewrite_layer_norm",
             "rewrite_hard_swish",
             "rewrite_hard_sigmoid",
             "rewrite_gelu",
             "rewrite_one_hot_matmul",
             // Before data movement and constants around an attention are moved elsewhere.
             "fuse_attention",
             // Data movement: fewer and smaller copies.
             "rewrite_reshape_chain",
             "rewrite_slice_chain",
             "rewrite_concat_pieces",
             "sink_transpose",
             "rewrite_pad_into_conv",
             // Arithmetic by constants into weights, tables and each other.
             "fold_batch_norm",
             "rewrite_div_to_mul",
             "fold_affine",
             "fold_affine_chain",
             "fold_gather_table",
             // Other forms of the heavy operators; off by default.
             "merge_parallel_convs",
             "merge_qkv",
             "rewrite_space_to_depth_stem",
             "rewrite_conv_to_matmul",
         }},
        // Group: biases move into their producers, quantised values that nothing reads as integers become arithmetic
        // (not before: other rewrites would turn its division, whose ties count, into a multiplication), then producers
        // take what follows, then the rest is grouped.
        {Phase::group, false, {"fuse_bias", "rewrite_quantize_pair", "fuse_epilogue", "fuse_pointwise"}},
    };
    return plan;
}

}  // namespace headway
