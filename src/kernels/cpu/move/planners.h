// The copies that Concat, Split and Slice come down to.
#pragma once

#include "kernels/cpu/layout/copy_plan.h"

namespace headway {

Verdict plan_concat(const Problem& problem, CopyPlan* plan);
Verdict plan_split(const Problem& problem, CopyPlan* plan);
Verdict plan_slice(const Problem& problem, CopyPlan* plan);

}  // namespace headway
