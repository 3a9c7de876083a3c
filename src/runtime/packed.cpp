#include "runtime/packed.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {
namespace {

// A problem may claim constants of any size; packing shrinks them by no more than this (f32 to 4 bits, and some spare).
constexpr int64_t most_shrinkage = 16;
constexpr int64_t always_allowed_bytes = int64_t{1} << 20;

[[noreturn]] void refuse(const Step& step, const std::string& what) {
    throw UserError("step " + (step.origins.empty() ? step.kernel : step.origins.front()) + ": " + what);
}

std::vector<Tensor> packed_zeros(const Step& step, const Kernel& kernel, const Target& target, int64_t limit) {
    const Problem& problem = step.problem;
    std::vector<Tensor> zeros(problem.src.size());
    std::vector<const Tensor*> constants(problem.src.size(), nullptr);
    int64_t total = 0;
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!problem.src[i] || !problem.constant[i]) continue;
        const TensorDesc plain{problem.src[i]->type, problem.src[i]->shape};
        total = checked_add(total, plain.bytes(), "constants");
        if (total > limit) refuse(step, "its problem has more constants than the file");
        zeros[i] = Tensor(plain.type, plain.shape);
        constants[i] = &zeros[i];
    }
    return kernel.fields().pack(problem, target, step.choices, constants);
}

}  // namespace

void check_packed(const Plan& plan, const Target& target, const Registry<Kernel>& kernels) {
    int64_t stored = 0;
    for (const Constant& constant : plan.constants) stored += static_cast<int64_t>(constant.bytes.size_bytes());
    const int64_t limit =
        checked_add(checked_mul(stored, most_shrinkage, "constants"), always_allowed_bytes, "constants");
    for (const Step& step : plan.steps) {
        const Kernel* kernel = kernels.find(step.kernel);
        if (kernel == nullptr || !kernel->supports(step.problem, target, step.choices)) continue;
        std::vector<Tensor> expected;
        if (kernel->fields().pack) expected = packed_zeros(step, *kernel, target, limit);
        if (expected.size() != step.packed.size())
            refuse(step, "has " + std::to_string(step.packed.size()) + " packed constants, kernel " + step.kernel +
                             " makes " + std::to_string(expected.size()));
        for (size_t i = 0; i < expected.size(); ++i)
            if (plan.constants[static_cast<size_t>(step.packed[i])].bytes.size_bytes() != expected[i].size_bytes())
                refuse(step, "packed constant " + std::to_string(i) + " has not the size that kernel " + step.kernel +
                                 " makes");
    }
}

}  // namespace headway
