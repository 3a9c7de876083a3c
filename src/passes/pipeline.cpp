// The order of the passes, and why.
#include <vector>

#include "passes/manager.h"

namespace headway {

const std::vector<PhasePlan>& pipeline() {
    static const std::vector<PhasePlan> plan{
        // Rewrite: simpler graphs with the same meaning, repeated until nothing changes. Folding and clean-up come first
        // so that the patterns after them see few spellings; patterns with a name of their own (HardSwish) come before
        // the affine passes, which would merge their constants away.
        {Phase::rewrite,
         true,
         {"fold_constants", "eliminate_identity", "eliminate_common", "fold_batch_norm", "fold_affine"}},
        // Group: biases move into their producers, then producers take what follows, then the rest is grouped.
        {Phase::group, false, {"fuse_bias", "fuse_epilogue", "fuse_pointwise"}},
    };
    return plan;
}

}  // namespace headway
