#include "kernels/cpu/testing/kernel_run.h"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "base/checked.h"
#include "kernels/kernel_testing.h"
#include "kernels/tiles_apart.h"

namespace headway::testing {
namespace {

// Position of logical element (n, c, s) in a layout; s counts the spatial positions.
int64_t position(const TensorDesc& desc, int64_t n, int64_t c, int64_t s) {
    const int64_t channels = desc.shape[1], spatial = desc.shape.elements(2, desc.shape.rank());
    if (desc.layout == Layout::nhwc) return (n * spatial + s) * channels + c;
    const int64_t block = channel_block(desc.layout);
    return ((n * ceil_div(channels, block) + c / block) * spatial + s) * block + c % block;
}

template <class Visit>
void for_each_element(const TensorDesc& desc, Visit visit) {
    const int64_t spatial = desc.shape.elements(2, desc.shape.rank());
    int64_t plain = 0;
    for (int64_t n = 0; n < desc.shape[0]; ++n)
        for (int64_t c = 0; c < desc.shape[1]; ++c)
            for (int64_t s = 0; s < spatial; ++s) visit(plain++, position(desc, n, c, s));
}

}  // namespace

Tensor to_layout(const Tensor& plain, const TensorDesc& desc) {
    if (desc.layout == Layout::plain) return plain;
    Tensor out(ElementType::f32, Shape{desc.physical_elements()});
    const float* from = plain.data<float>().data();
    float* to = out.mutable_data<float>().data();
    for_each_element(desc, [&](int64_t a, int64_t b) { to[b] = from[a]; });
    return out;
}

Tensor from_layout(std::span<const std::byte> bytes, const TensorDesc& desc) {
    Tensor out(desc.type, desc.shape);
    if (desc.layout == Layout::plain) {
        std::copy_n(bytes.begin(), out.size_bytes(), out.mutable_bytes().begin());
        return out;
    }
    const float* from = reinterpret_cast<const float*>(bytes.data());
    float* to = out.mutable_data<float>().data();
    for_each_element(desc, [&](int64_t a, int64_t b) { to[a] = from[b]; });
    return out;
}

namespace {

// Emulated bf16 is declared for less than AVX-512.
bool can_run(const Kernel& kernel) {
    const bool needs_bf16 = kernel.fields().compute == ComputeFormat::bf16 && kernel.fields().isa == Isa::avx512;
    return runs_here(kernel.fields().isa) && (!needs_bf16 || Target::native().avx512_bf16);
}

}  // namespace

std::vector<const Kernel*> kernels_of(std::string_view family_variant) {
    std::vector<const Kernel*> found;
    for (const Kernel* kernel : declared<Kernel>())
        if (kernel->name().starts_with(std::string(family_variant) + ".") && can_run(*kernel)) found.push_back(kernel);
    return found;
}

Target target_of(const Kernel& kernel) {
    Target target;
    target.isa = kernel.fields().isa;
    target.avx512_bf16 = kernel.fields().compute == ComputeFormat::bf16;
    target.threads = 2;
    target.onednn = Target::native().onednn;
    return target;
}

double operand(double value, ComputeFormat format) {
    return format == ComputeFormat::bf16 ? double{bf16_to_float(float_to_bf16(static_cast<float>(value)))} : value;
}

struct Bench::Impl {
    std::vector<Guarded> packed, values, dst;
    std::optional<Guarded> workspace, scratch;
    std::vector<const std::byte*> src_pointers, operand_pointers, packed_pointers;
    std::vector<std::byte*> dst_pointers;
    std::unique_ptr<Prepared> prepared;

    Args args() const {
        return {src_pointers.data(),    operand_pointers.data(), dst_pointers.data(),
                packed_pointers.data(), workspace->data(),       scratch->data()};
    }
    void refill(unsigned char fill) const {
        for (const Guarded& memory : dst) memory.refill(fill);
        workspace->refill(fill);
        scratch->refill(fill);
    }
    // Every tile apart; "" or the tile that disturbed another.
    std::string run_apart() const {
        std::vector<const Guarded*> memories{&*workspace};
        for (const Guarded& memory : dst) memories.push_back(&memory);
        std::string complaint;
        for (int phase = 0; phase < prepared->phases(); ++phase)
            if (std::string found = run_tiles_apart(*prepared, args(), phase, *scratch, memories); !found.empty())
                complaint = std::move(found);
        return complaint;
    }
    bool intact() const {
        const auto is_intact = [](const Guarded& memory) { return memory.intact(); };
        return std::ranges::all_of(dst, is_intact) && workspace->intact() && scratch->intact();
    }
};

Bench::Bench(const Kernel& kernel, const Problem& problem, const Target& target, const Choices& choices,
             const KernelInputs& inputs, Guard guard)
    : impl_(std::make_unique<Impl>()) {
    std::vector<const Tensor*> constants = inputs.src;
    for (size_t i = 0; i < constants.size(); ++i)
        if (!problem.constant[i]) constants[i] = nullptr;
    if (kernel.fields().pack)
        for (const Tensor& tensor : kernel.fields().pack(problem, target, choices, constants))
            impl_->packed.push_back(guarded_copy(tensor.bytes(), guard));
    impl_->prepared = kernel.fields().prepare(problem, target, choices);
    const auto lay_out = [&](const Tensor* tensor, const TensorDesc& desc) {
        impl_->values.push_back(guarded_copy(to_layout(*tensor, desc).bytes(), guard));
        return impl_->values.back().data();
    };
    for (size_t i = 0; i < inputs.src.size(); ++i)
        impl_->src_pointers.push_back(
            inputs.src[i] != nullptr && !problem.constant[i] ? lay_out(inputs.src[i], *problem.src[i]) : nullptr);
    for (size_t i = 0; i < inputs.operands.size(); ++i)
        impl_->operand_pointers.push_back(lay_out(inputs.operands[i], problem.operands[i]));
    for (const Guarded& memory : impl_->packed) impl_->packed_pointers.push_back(memory.data());
    impl_->prepared->load(impl_->packed_pointers.data());
    for (const TensorDesc& desc : problem.dst) {
        impl_->dst.emplace_back(desc.bytes(), guard);
        impl_->dst_pointers.push_back(impl_->dst.back().data());
    }
    constexpr int64_t promised_alignment = 64;  // see Args
    impl_->workspace.emplace(impl_->prepared->workspace_bytes(), guard, 0, promised_alignment);
    impl_->scratch.emplace(impl_->prepared->scratch_bytes(), guard, 0, promised_alignment);
}

Bench::~Bench() = default;

void Bench::run() const {
    const Args args = impl_->args();
    for (int phase = 0; phase < impl_->prepared->phases(); ++phase)
        impl_->prepared->run(args, phase, 0, impl_->prepared->tiles(phase));
}

namespace {

KernelOutputs run_all_ways(const Kernel& kernel, const Problem& problem, const Target& target, const Choices& choices,
                           const KernelInputs& inputs) {
    KernelOutputs outputs;
    for (const Way& way : ways) {
        Bench bench(kernel, problem, target, choices, inputs, way.guard);
        const Bench::Impl& impl = bench.impl();
        impl.refill(way.apart ? 0x7F : 0xA5);
        if (!way.apart)
            bench.run();
        else if (std::string found = impl.run_apart(); !found.empty())
            outputs.complaint = std::move(found);
        if (!impl.intact()) outputs.complaint = "wrote outside dst, workspace or scratch";
        for (size_t i = 0; i < impl.dst.size(); ++i) {
            Tensor result = from_layout(impl.dst[i].as<std::byte>(), problem.dst[i]);
            if (&way == ways)
                outputs.dst.push_back(std::move(result));
            else if (result.hash() != outputs.dst[i].hash())
                outputs.complaint = "bits depend on the order of tiles or on the memory";
        }
    }
    return outputs;
}

}  // namespace

KernelOutputs run_kernel(const Kernel& kernel, const Problem& problem, const Target& target, const Choices& choices,
                         const KernelInputs& inputs) {
    KernelOutputs outputs = run_all_ways(kernel, problem, target, choices, inputs);
    const Target small = with_small_caches(target);
    if (outputs.complaint.empty() && kernel.supports(problem, small, choices))
        outputs.complaint = run_all_ways(kernel, problem, small, choices, inputs).complaint;
    LinkedKernels::ran(kernel);
    return outputs;
}

namespace {

TEST(kernel_run, layouts_go_there_and_back) {
    Tensor plain(ElementType::f32, Shape{2, 11, 3, 2});
    for (int64_t i = 0; i < plain.elements(); ++i) plain.set(i, static_cast<double>(i));
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c}) {
        const TensorDesc desc{ElementType::f32, plain.shape(), layout};
        EXPECT_EQ(from_layout(to_layout(plain, desc).bytes(), desc).hash(), plain.hash()) << to_string(layout);
    }
}

}  // namespace
}  // namespace headway::testing
