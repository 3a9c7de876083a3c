// For tests of the runtime: a few kernels that are easy to predict, and short ways to write plans over them.
#pragma once

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <xmmintrin.h>

#include "runtime/engine.h"

namespace headway::testing {

inline constexpr int64_t tile = 16;  // elements of one tile of these kernels

// What `test.trace` saw.
struct Trace {
    std::mutex mutex;
    std::multiset<std::thread::id> threads;
    std::set<unsigned> modes;  // MXCSR control bits
};
inline Trace trace;

class Elementwise final : public Prepared {
public:
    using Run = void (*)(const Args&, int64_t);
    Elementwise(int64_t elements, Run run) : elements_(elements), run_(run) {}
    int64_t tiles(int) const override { return (elements_ + tile - 1) / tile; }
    int64_t scratch_bytes() const override { return 100; }
    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        // Two threads with the same scratch would see each other's number.
        auto* mark = reinterpret_cast<volatile int64_t*>(args.scratch);
        *mark = begin;
        for (int64_t i = begin * tile; i < std::min(end * tile, elements_); ++i) run_(args, i);
        HEADWAY_CHECK(*mark == begin);
    }

private:
    int64_t elements_;
    Run run_;
};

inline const float* source(const Args& args, int k) { return reinterpret_cast<const float*>(args.src[k]); }
inline float* result(const Args& args) { return reinterpret_cast<float*>(args.dst[0]); }

// dst = sum of all src elements added to every element, in two phases: tile sums, then the rest.
class SumAll final : public Prepared {
public:
    explicit SumAll(int64_t elements) : elements_(elements) {}
    int phases() const override { return 2; }
    int64_t tiles(int) const override { return (elements_ + tile - 1) / tile; }
    int64_t workspace_bytes() const override { return tiles(0) * 8; }
    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        auto* sums = reinterpret_cast<double*>(args.workspace);
        for (int64_t t = begin; t < end; ++t) {
            const int64_t first = t * tile, last = std::min(first + tile, elements_);
            if (phase == 0) {
                sums[t] = std::accumulate(source(args, 0) + first, source(args, 0) + last, 0.0);
            } else {
                const double sum = std::accumulate(sums, sums + tiles(0), 0.0);
                for (int64_t i = first; i < last; ++i) result(args)[i] = static_cast<float>(source(args, 0)[i] + sum);
            }
        }
    }

private:
    int64_t elements_;
};

inline Kernel::Fields kernel_fields(std::string name, Elementwise::Run run) {
    Kernel::Fields fields;
    fields.name = std::move(name);
    fields.ops = {"Add", "Scale", "Trace", "SumAll", "Pointwise"};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) {
        return problem.dst.size() == 1 ? Verdict::yes() : Verdict::no(Reason::shape, "needs one result");
    };
    fields.prepare = [run](const Problem& problem, const Target&, const Choices&) {
        return std::make_unique<Elementwise>(problem.dst[0].shape.elements(), run);
    };
    return fields;
}

inline const Registry<Kernel>& kernels() {
    static const Kernel add([] {
        auto fields = kernel_fields("test.add",
                                    [](const Args& a, int64_t i) { result(a)[i] = source(a, 0)[i] + source(a, 1)[i]; });
        fields.in_place = true;
        return fields;
    }());
    static const Kernel scale([] {
        auto fields = kernel_fields("test.scale", [](const Args& a, int64_t i) {
            result(a)[i] = source(a, 0)[i] * *reinterpret_cast<const float*>(a.packed[0]);
        });
        fields.pack = [](const Problem&, const Target&, const Choices&, std::span<const Tensor* const>) {
            return std::vector<Tensor>{Tensor(ElementType::f32, Shape{})};
        };
        return fields;
    }());
    static const Kernel spy(kernel_fields("test.trace", [](const Args& a, int64_t i) {
        result(a)[i] = source(a, 0)[i];
        const std::lock_guard lock(trace.mutex);
        trace.threads.insert(std::this_thread::get_id());
        trace.modes.insert(_mm_getcsr() & ~0x3FU);
    }));
    static const Kernel positive(kernel_fields("test.positive", [](const Args& a, int64_t i) {
        result(a)[i] = source(a, 0)[i];
        if (result(a)[i] < 0) throw UserError("element " + std::to_string(i) + " is negative");
    }));
    static const Kernel sum([] {
        auto fields = kernel_fields("test.sum_all", nullptr);
        fields.prepare = [](const Problem& problem, const Target&, const Choices&) {
            return std::make_unique<SumAll>(problem.dst[0].shape.elements());
        };
        return fields;
    }());
    static const Kernel wide([] {
        auto fields = kernel_fields("test.wide", nullptr);
        fields.isa = Isa::avx512;
        return fields;
    }());
    static const Kernel bf16([] {
        auto fields = kernel_fields("test.bf16", nullptr);
        fields.compute = ComputeFormat::bf16;
        return fields;
    }());
    static const Registry<Kernel> registry({&add, &bf16, &positive, &scale, &spy, &sum, &wide});
    return registry;
}

// Builds plans over f32 vectors of one length: ids are those of buffers.
class PlanMaker {
public:
    explicit PlanMaker(int64_t elements, int threads = 1) : desc_{ElementType::f32, Shape{elements}} {
        plan.settings.threads = threads;
    }
    int32_t input(std::string name) {
        const int32_t id = buffer(name, Place::input, static_cast<int64_t>(plan.inputs.size()));
        plan.inputs.push_back({std::move(name), desc_, id, {}});
        return id;
    }
    int32_t output(std::string name) {
        const int32_t id = buffer(name, Place::output, static_cast<int64_t>(plan.outputs.size()));
        plan.outputs.push_back({std::move(name), desc_, id, {}});
        return id;
    }
    int32_t arena(std::string name, int64_t offset) {
        plan.arena_bytes = std::max(plan.arena_bytes, offset + desc_.bytes());
        return buffer(std::move(name), Place::arena, offset);
    }
    int32_t constant(float value) {
        const Tensor tensor = Tensor::scalar(value);
        plan.constants.push_back({{ElementType::f32, Shape{}}, tensor, tensor.hash()});
        return static_cast<int32_t>(plan.constants.size()) - 1;
    }
    // Slots past the end of the plan's arena, one after another.
    int64_t slot(int64_t k) const { return k * ((desc_.bytes() + 63) / 64 * 64); }
    Step& step(std::string kernel, std::vector<int32_t> src, int32_t dst, std::vector<int32_t> packed = {}) {
        Step step;
        step.kernel = std::move(kernel);
        step.problem.op = "Add";
        step.problem.src.assign(src.size(), desc_);
        step.problem.constant.assign(src.size(), false);
        step.problem.dst = {desc_};
        step.origins = {step.kernel + "#" + std::to_string(plan.steps.size())};
        step.src = std::move(src);
        step.dst = {dst};
        step.packed = std::move(packed);
        plan.steps.push_back(std::move(step));
        return plan.steps.back();
    }
    std::shared_ptr<const Engine> engine() const { return Engine::make(plan, info(), kernels()); }
    static EngineInfo info() {
        EngineInfo info;
        info.target = "baseline";
        return info;
    }

    Plan plan;

private:
    int32_t buffer(std::string name, Place place, int64_t index) {
        plan.buffers.push_back({std::move(name), desc_, ValueKind::tensor, 0, place, index});
        return static_cast<int32_t>(plan.buffers.size()) - 1;
    }
    TensorDesc desc_;
};

// ((x + y) * 3 summed over all and added to each) + x, with every kind of buffer.
inline PlanMaker example(int64_t elements, int threads = 1) {
    PlanMaker maker(elements, threads);
    const int32_t x = maker.input("x"), y = maker.input("y"), out = maker.output("out");
    const int32_t a = maker.arena("a", maker.slot(0)), b = maker.arena("b", maker.slot(1)),
                  c = maker.arena("c", maker.slot(0));
    maker.step("test.add", {x, y}, a);
    maker.step("test.scale", {a}, b, {maker.constant(3)});
    maker.step("test.sum_all", {b}, c);
    maker.step("test.add", {c, x}, out);
    return maker;
}

inline std::vector<float> example_result(const std::vector<float>& x, const std::vector<float>& y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += (x[i] + y[i]) * 3;
    std::vector<float> result;
    for (size_t i = 0; i < x.size(); ++i) result.push_back(static_cast<float>((x[i] + y[i]) * 3 + sum) + x[i]);
    return result;
}

// Small integers, so that sums are exact in any order.
inline std::vector<float> numbers(int64_t count, int seed) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed * 13) % 11));
    return values;
}

inline Tensor tensor_of(const std::vector<float>& values) {
    return Tensor::of<float>(Shape{static_cast<int64_t>(values.size())}, values);
}

}  // namespace headway::testing
