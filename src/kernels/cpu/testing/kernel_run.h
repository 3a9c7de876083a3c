// Runs one kernel on one problem as an engine would, for tests: packs constants, lays tensors out, runs the tiles, and
// checks what every kernel promises: nothing is read or written outside the buffers, and the bits do not depend on how
// tiles are split over calls.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/guarded.h"
#include "kernels/kernel.h"
#include "tensor/tensor.h"

namespace headway::testing {

// Problem::src, constant, operands and dst describe the tensors; values are given in plain layout.
struct KernelInputs {
    std::vector<const Tensor*> src;  // at ONNX positions, nullptr = absent
    std::vector<const Tensor*> operands;
};

struct KernelOutputs {
    std::vector<Tensor> dst;  // in plain layout
    std::string complaint;    // "" or which promise was broken
};

KernelOutputs run_kernel(const Kernel& kernel, const Problem& problem, const Target& target, const Choices& choices,
                         const KernelInputs& inputs);

// All linked kernels "family.variant.isa" that can run here, the emulated ones of the tests included.
std::vector<const Kernel*> kernels_of(std::string_view family_variant);

// A target that has what the kernel needs and no more.
Target target_of(const Kernel& kernel);

// What a kernel that computes in `format` multiplies instead of `value`.
double operand(double value, ComputeFormat format);

// A prepared step with buffers of its own, for benchmarks: run() executes every tile once.
class Bench {
public:
    Bench(const Kernel& kernel, const Problem& problem, const Target& target, const Choices& choices,
          const KernelInputs& inputs, Guard guard = Guard::before);
    ~Bench();
    void run() const;

    struct Impl;
    Impl& impl() { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

// Physical bytes of a plain tensor under desc's layout, and back. f32 only; other types must be plain.
Tensor to_layout(const Tensor& plain, const TensorDesc& desc);
Tensor from_layout(std::span<const std::byte> bytes, const TensorDesc& desc);

}  // namespace headway::testing
