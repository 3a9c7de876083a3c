// For the tests of kernels: tensors in any layout made from plain values, and runs of a kernel whose tiles come in
// reverse order and each apart, every buffer at a page that kills whoever touches it. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "base/checked.h"
#include "kernels/guarded.h"
#include "kernels/kernel.h"
#include "kernels/tiles_apart.h"
#include "tensor/tensor.h"

namespace headway::testing {

// Offset in elements of a logical index (n, c, spatial...) of a tensor's own shape.
inline int64_t physical_offset(const TensorDesc& desc, const std::vector<int64_t>& index) {
    const size_t rank = desc.shape.rank();
    int64_t offset = 0;
    if (desc.layout == Layout::plain) {
        for (size_t i = 0; i < rank; ++i) offset = offset * desc.shape[i] + index[i];
        return offset;
    }
    const int64_t block = channel_block(desc.layout);
    const bool blocked = block > 1;
    offset = index[0];
    if (blocked) offset = offset * ceil_div(desc.shape[1], block) + index[1] / block;
    for (size_t i = 2; i < rank; ++i) offset = offset * desc.shape[i] + index[i];
    return blocked ? offset * block + index[1] % block : offset * desc.shape[1] + index[1];
}

// Calls f(logical index, position in plain order) for every element of a shape.
template <class F>
void for_each_index(const Shape& shape, F f) {
    std::vector<int64_t> index(shape.rank(), 0);
    const int64_t count = shape.elements();
    for (int64_t i = 0; i < count; ++i) {
        int64_t left = i;
        for (size_t d = shape.rank(); d-- > 0;) {
            index[d] = left % shape[d];
            left /= shape[d];
        }
        f(std::as_const(index), i);
    }
}

inline TensorDesc f32(Shape shape, Layout layout = Layout::plain) {
    return {ElementType::f32, std::move(shape), layout};
}

inline std::vector<float> random_floats(int64_t count, uint32_t seed, float low = -2, float high = 2) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(low, high);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = uniform(generator);
    return values;
}

// Multiples of 1/1000 between -1 and 1.
inline Tensor random_tensor(Shape shape, unsigned seed) {
    Tensor tensor(ElementType::f32, std::move(shape));
    std::mt19937 engine(seed);
    for (float& value : tensor.mutable_data<float>())
        value = static_cast<float>(static_cast<int>(engine() % 2001) - 1000) / 1000.0F;
    return tensor;
}

// Plain values of any element size laid out as `desc` says; padding channels are zero.
inline Guarded to_physical(const TensorDesc& desc, const void* plain, Guard guard) {
    Guarded memory(desc.bytes(), guard, 0);
    const size_t size = size_of(desc.type);
    for_each_index(desc.shape, [&](const std::vector<int64_t>& index, int64_t at) {
        std::memcpy(memory.data() + static_cast<size_t>(physical_offset(desc, index)) * size,
                    static_cast<const std::byte*>(plain) + static_cast<size_t>(at) * size, size);
    });
    return memory;
}

// The plain values of a buffer; expects its padding channels to be zero.
template <class T>
std::vector<T> from_physical(const TensorDesc& desc, const Guarded& memory) {
    std::vector<T> plain(static_cast<size_t>(desc.shape.elements()));
    std::vector<bool> real(memory.as<T>().size(), false);
    for_each_index(desc.shape, [&](const std::vector<int64_t>& index, int64_t at) {
        const auto offset = static_cast<size_t>(physical_offset(desc, index));
        plain[static_cast<size_t>(at)] = memory.as<T>()[offset];
        real[offset] = true;
    });
    for (size_t i = 0; i < real.size(); ++i)
        if (!real[i] && memory.as<T>()[i] != T{}) {
            ADD_FAILURE() << "padding channel is not zero at element " << i;
            break;
        }
    return plain;
}

// A problem with its data: src, then operands, as plain values.
struct KernelCase {
    Problem problem;
    std::vector<std::vector<std::byte>> src;  // empty where absent
    std::vector<std::vector<std::byte>> operands;
    Choices choices;
    int in_place_operand = -1;  // dst[0] is this operand's buffer
    int in_place_src = -1;      // dst[0] is this src's buffer

    template <class T>
    void add_src(TensorDesc desc, const std::vector<T>& values, bool constant = false) {
        EXPECT_EQ(static_cast<int64_t>(values.size()), desc.shape.elements());
        src.push_back(bytes_of(values));
        problem.src.emplace_back(std::move(desc));
        problem.constant.push_back(constant);
    }
    void add_absent() {
        src.emplace_back();
        problem.src.emplace_back();
        problem.constant.push_back(false);
    }
    template <class T>
    void add_operand(TensorDesc desc, const std::vector<T>& values) {
        operands.push_back(bytes_of(values));
        problem.operands.push_back(std::move(desc));
    }

    template <class T>
    static std::vector<std::byte> bytes_of(const std::vector<T>& values) {
        const auto* first = reinterpret_cast<const std::byte*>(values.data());
        return {first, first + values.size() * sizeof(T)};
    }
};

// The same from tensors in plain order.
inline KernelCase case_of(const Problem& problem, const std::vector<Tensor>& src, const std::vector<Tensor>& operands,
                          const Choices& choices = {}) {
    KernelCase test;
    test.problem = problem;
    test.choices = choices;
    for (const Tensor& tensor : src) test.src.emplace_back(tensor.bytes().begin(), tensor.bytes().end());
    for (const Tensor& tensor : operands) test.operands.emplace_back(tensor.bytes().begin(), tensor.bytes().end());
    return test;
}

// Emulated bf16 is declared for less than AVX-512.
inline bool has_machine_for(const Kernel& kernel) {
    const Target here = Target::native();
    if (!runs_here(kernel.fields().isa)) return false;
    if (kernel.name().ends_with("avx512vnni")) return here.avx512_vnni;
    if (kernel.name().find("onednn") != std::string_view::npos) return here.onednn != "absent";
    return kernel.fields().compute == ComputeFormat::fp32 || kernel.fields().isa != Isa::avx512 || here.avx512_bf16;
}

// The kernels that are linked, as listed before the first test: tests may declare short-lived ones. Those that can run
// here must all have been run between guards by the end of a test program that was not told to run a part of itself.
class LinkedKernels : public ::testing::Environment {
public:
    void SetUp() override { list() = announced<Kernel>(); }
    void TearDown() override {
        if (::testing::GTEST_FLAG(filter) != "*") return;
        for (const Kernel* kernel : list())
            EXPECT_TRUE(names().contains(std::string(kernel->name())) || !has_machine_for(*kernel))
                << kernel->name() << " was never run between guard pages";
    }
    static std::vector<const Kernel*>& list() {
        static std::vector<const Kernel*> kernels;
        return kernels;
    }
    static void ran(const Kernel& kernel) { names().emplace(kernel.name()); }

private:
    static std::set<std::string>& names() {
        static std::set<std::string> names;
        return names;
    }
};
inline ::testing::Environment* const linked_kernels = ::testing::AddGlobalTestEnvironment(new LinkedKernels);

// How a kernel is run: all tiles in one call, or each apart from the others; and which end of the buffers is guarded.
struct Way {
    bool apart = false;
    Guard guard = Guard::behind;
};
inline constexpr Way ways[] = {
    {false, Guard::behind}, {true, Guard::behind}, {false, Guard::before}, {true, Guard::before}};

// A prepared kernel with buffers of its own, run in one way.
class KernelRun {
public:
    // `test` outlives it.
    KernelRun(const Kernel& kernel, const KernelCase& test, const Target& target, Way way)
        : kernel_(kernel), test_(test), way_(way) {
        const Problem& problem = test.problem;
        const Verdict verdict = kernel.supports(problem, target, test.choices);
        EXPECT_TRUE(verdict) << kernel.name() << ": " << verdict.text() << " for " << problem.text();
        if (!verdict) return;
        pack(target);
        for (size_t i = 0; i < test.src.size(); ++i) {
            const bool given = problem.src[i].has_value() && !problem.constant[i];
            src_.push_back(given ? to_physical(*problem.src[i], test.src[i].data(), way.guard) : Guarded(0));
            src_pointers_.push_back(given ? src_.back().data() : nullptr);
        }
        for (size_t i = 0; i < test.operands.size(); ++i) {
            operands_.push_back(to_physical(problem.operands[i], test.operands[i].data(), way.guard));
            operand_pointers_.push_back(operands_.back().data());
        }
        // What was in memory before differs from way to way, so that whoever reads it is noticed.
        const unsigned char fill = way.apart ? 0x7F : 0xCD;
        for (const TensorDesc& desc : problem.dst) {
            dst_.emplace_back(desc.bytes(), way.guard, fill);
            dst_pointers_.push_back(dst_.back().data());
        }
        if (test.in_place_operand >= 0) dst_pointers_[0] = operands_[static_cast<size_t>(test.in_place_operand)].data();
        if (test.in_place_src >= 0) dst_pointers_[0] = src_[static_cast<size_t>(test.in_place_src)].data();
        prepared_ = kernel.fields().prepare(problem, target, test.choices);
        prepared_->load(packed_pointers_.data());
        constexpr int64_t promised_alignment = 64;  // see Args
        workspace_ = Guarded(prepared_->workspace_bytes(), way.guard, fill, promised_alignment);
        scratch_ = Guarded(prepared_->scratch_bytes(), way.guard, fill, promised_alignment);
    }

    void run() const {
        if (!prepared_) return;
        const Args args{src_pointers_.data(),    operand_pointers_.data(), dst_pointers_.data(),
                        packed_pointers_.data(), workspace_.data(),        scratch_.data()};
        for (int phase = 0; phase < prepared_->phases(); ++phase) {
            const int64_t tiles = prepared_->tiles(phase);
            if (way_.apart)
                EXPECT_EQ(run_tiles_apart(*prepared_, args, phase, scratch_, written()), "") << where();
            else if (tiles > 0)
                prepared_->run(args, phase, 0, tiles);
        }
    }

    // The plain values of dst[index] after run().
    template <class T>
    std::vector<T> result(size_t index = 0) const {
        if (!prepared_) return {};
        LinkedKernels::ran(kernel_);
        for (const Guarded* memory : written())
            EXPECT_TRUE(memory->intact()) << "written outside a buffer: " << where();
        EXPECT_TRUE(scratch_.intact()) << "written outside the scratch: " << where();
        const Guarded* memory = &dst_[index];
        if (index == 0 && test_.in_place_operand >= 0) memory = &operands_[static_cast<size_t>(test_.in_place_operand)];
        if (index == 0 && test_.in_place_src >= 0) memory = &src_[static_cast<size_t>(test_.in_place_src)];
        return from_physical<T>(test_.problem.dst[index], *memory);
    }

private:
    void pack(const Target& target) {
        if (!kernel_.fields().pack) return;
        const Problem& problem = test_.problem;
        std::vector<Tensor> tensors(problem.src.size());
        std::vector<const Tensor*> constants(problem.src.size(), nullptr);
        for (size_t i = 0; i < problem.src.size(); ++i) {
            if (!problem.src[i] || !problem.constant[i]) continue;
            tensors[i] = Tensor(problem.src[i]->type, problem.src[i]->shape);
            std::ranges::copy(test_.src[i], tensors[i].mutable_bytes().begin());  // which may be empty
            constants[i] = &tensors[i];
        }
        for (const Tensor& tensor : kernel_.fields().pack(problem, target, test_.choices, constants)) {
            packed_.push_back(guarded_copy(tensor.bytes(), way_.guard));
            packed_pointers_.push_back(packed_.back().data());
        }
    }

    // What more than one tile may write: a kernel in place writes src or operands.
    std::vector<const Guarded*> written() const {
        std::vector<const Guarded*> memories{&workspace_};
        for (const auto* list : {&src_, &operands_, &dst_})
            for (const Guarded& memory : *list) memories.push_back(&memory);
        return memories;
    }
    std::string where() const { return std::string(kernel_.name()) + " for " + test_.problem.text(); }

    const Kernel& kernel_;
    const KernelCase& test_;
    const Way way_;
    std::unique_ptr<Prepared> prepared_;  // none: the kernel refused
    Guarded workspace_{0}, scratch_{0};
    std::vector<Guarded> src_, operands_, dst_, packed_;
    std::vector<const std::byte*> src_pointers_, operand_pointers_, packed_pointers_;
    std::vector<std::byte*> dst_pointers_;
};

// All ways of running give the same bits; returns the plain values of dst[index].
template <class T>
std::vector<T> run_all_ways(const Kernel& kernel, const KernelCase& test, size_t index, const Target& target) {
    std::vector<T> first;
    for (const Way& way : ways) {
        const KernelRun run(kernel, test, target, way);
        run.run();
        const std::vector<T> values = run.result<T>(index);
        if (&way == ways) {
            first = values;
            continue;
        }
        EXPECT_EQ(values.size(), first.size());
        if (first.empty() || values.size() != first.size()) continue;
        EXPECT_EQ(std::memcmp(values.data(), first.data(), first.size() * sizeof(T)), 0)
            << kernel.name() << " depends on the split or on its memory: " << test.problem.text();
    }
    return first;
}

// Real numbers may be summed in another order; all others are equal.
template <class T>
void expect_same_but_for_sums(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    double largest = 0;
    if constexpr (std::is_floating_point_v<T>)
        for (T value : want)
            if (std::isfinite(value)) largest = std::max(largest, std::abs(double{value}));
    for (size_t i = 0; i < got.size(); ++i) {
        if (got[i] == want[i]) continue;
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(got[i]) && std::isnan(want[i])) continue;
            if (std::abs(double{got[i]} - double{want[i]}) <= 1e-4 * largest) continue;
        }
        FAIL() << what << ": element " << i << " is " << got[i] << ", not " << want[i];
    }
}

// The plain values of dst[index] on `target`; the same problem cut for small caches gives them, too.
template <class T>
std::vector<T> run_kernel(const Kernel& kernel, const KernelCase& test, size_t index = 0,
                          const Target& target = Target::native()) {
    std::vector<T> values = run_all_ways<T>(kernel, test, index, target);
    if (const Target small = with_small_caches(target); kernel.supports(test.problem, small, test.choices))
        expect_same_but_for_sums(run_all_ways<T>(kernel, test, index, small), values,
                                 std::string(kernel.name()) + " with small caches: " + test.problem.text());
    return values;
}

// All linked kernels for an operator that can run here, the emulated ones of the tests included.
inline std::vector<const Kernel*> kernels_for(std::string_view op) {
    std::vector<const Kernel*> found;
    for (const Kernel* kernel : LinkedKernels::list())
        for (const std::string& served : kernel->fields().ops)
            if (served == op && runs_here(kernel->fields().isa)) found.push_back(kernel);
    return found;
}

// All linked kernels "family.variant.isa" that can run here, the emulated ones of the tests included.
inline std::vector<const Kernel*> kernels_of(std::string_view family_variant) {
    const std::string beginning = std::string(family_variant) + ".";
    std::vector<const Kernel*> found;
    for (const Kernel* kernel : declared<Kernel>())
        if (kernel->name().starts_with(beginning) && has_machine_for(*kernel)) found.push_back(kernel);
    return found;
}

// A target that has what the kernel needs and no more.
inline Target target_of(const Kernel& kernel) {
    Target target;
    target.isa = kernel.fields().isa;
    target.avx512_bf16 = kernel.fields().compute == ComputeFormat::bf16;
    target.threads = 2;
    target.onednn = Target::native().onednn;
    return target;
}

// What a kernel that computes in `format` multiplies instead of `value`.
inline double operand(double value, ComputeFormat format) {
    return format == ComputeFormat::bf16 ? double{bf16_to_float(float_to_bf16(static_cast<float>(value)))} : value;
}

// Each linked kernel for the problem's operator whose instructions this machine has gives exactly `want` in dst[index].
template <class T>
void expect_all(const KernelCase& test, const std::vector<T>& want, size_t index = 0) {
    int ran = 0;
    for (const Kernel* kernel : kernels_for(test.problem.op)) {
        if (kernel->supports(test.problem, Target::native(), test.choices).reason == Reason::isa) continue;
        EXPECT_EQ(run_kernel<T>(*kernel, test, index), want) << kernel->name() << " " << test.problem.text();
        ++ran;
    }
    EXPECT_GT(ran, 0) << test.problem.text();
}

// "" when |got - want| <= tolerance * scale for each element, where `scale` is the sum of what was added up; or the
// first one that is further off.
inline std::string first_wrong(const std::vector<float>& got, const std::vector<double>& want,
                               const std::vector<double>& scale, double tolerance) {
    if (got.size() != want.size()) return std::to_string(got.size()) + " elements";
    for (size_t i = 0; i < want.size(); ++i)
        if (!(std::abs(got[i] - want[i]) <= tolerance * scale[i] + 1e-30))
            return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected " +
                   std::to_string(want[i]);
    return "";
}

// |got - want| <= absolute + relative * |want|; NaN equals NaN.
inline void expect_near(const std::vector<float>& got, const std::vector<double>& want, double relative,
                        double absolute, const std::string& what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < got.size(); ++i) {
        if (std::isnan(want[i]) && std::isnan(got[i])) continue;
        if (got[i] == want[i]) continue;
        ASSERT_LE(std::fabs(got[i] - want[i]), absolute + relative * std::fabs(want[i]))
            << what << ": element " << i << " is " << got[i] << ", not " << want[i];
    }
}

}  // namespace headway::testing
