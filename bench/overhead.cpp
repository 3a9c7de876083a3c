// What the runtime itself costs: microseconds per step of a plan of 100 tiny steps, on the caller and forked over
// threads, with workers that spin and workers that park. usage: bench_overhead [THREADS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "runtime/engine.h"

namespace headway {
namespace {

constexpr int step_count = 100;
constexpr int64_t elements = 64;

// Adds one; four tiles of 16 elements.
class AddOne final : public Prepared {
public:
    int64_t tiles(int) const override { return 4; }
    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const auto* src = reinterpret_cast<const float*>(args.src[0]);
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t i = begin * 16; i < end * 16; ++i) dst[i] = src[i] + 1;
    }
};

Kernel::Fields add_one() {
    Kernel::Fields fields;
    fields.name = "bench.add_one";
    fields.ops = {"AddOne"};
    fields.supports = [](const Problem&, const Target&, const Choices&) { return Verdict::yes(); };
    fields.prepare = [](const Problem&, const Target&, const Choices&) { return std::make_unique<AddOne>(); };
    return fields;
}

Plan chain(int threads, int max_threads, int64_t spin_us) {
    const TensorDesc desc{ElementType::f32, Shape{elements}};
    Plan plan;
    plan.settings.threads = threads;
    plan.settings.spin_us = spin_us;
    plan.arena_bytes = 2 * desc.bytes();
    plan.inputs = {{"x", desc, 0, {}}};
    plan.outputs = {{"y", desc, 1, {}}};
    plan.buffers = {{"x", desc, ValueKind::tensor, 0, Place::input, 0},
                    {"y", desc, ValueKind::tensor, 0, Place::output, 0}};
    int32_t last = 0;
    for (int i = 0; i < step_count; ++i) {
        Step step;
        step.kernel = "bench.add_one";
        step.problem.op = "AddOne";
        step.problem.src = {desc};
        step.problem.constant = {false};
        step.problem.dst = {desc};
        step.src = {last};
        plan.buffers.push_back(
            {"v" + std::to_string(i), desc, ValueKind::tensor, 0, Place::arena, (i % 2) * desc.bytes()});
        last = i + 1 == step_count ? 1 : static_cast<int32_t>(plan.buffers.size()) - 1;
        step.dst = {last};
        step.max_threads = max_threads;
        plan.steps.push_back(std::move(step));
    }
    return plan;
}

// Median over blocks of runs, in microseconds per step.
double per_step(const Registry<Kernel>& kernels, int threads, int max_threads, int64_t spin_us) {
    EngineInfo info;
    info.target = "baseline";
    Context context(Engine::make(chain(threads, max_threads, spin_us), info, kernels));
    std::vector<float> x(elements), y(elements);
    const std::byte* in[] = {reinterpret_cast<const std::byte*>(x.data())};
    std::byte* out[] = {reinterpret_cast<std::byte*>(y.data())};
    constexpr int blocks = 41, runs = 50;
    std::vector<double> times;
    for (int block = 0; block < blocks; ++block) {
        const auto begin = std::chrono::steady_clock::now();
        for (int run = 0; run < runs; ++run) context.run(in, out);
        const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
        times.push_back(spent.count() / runs / step_count);
    }
    HEADWAY_CHECK(y[0] == step_count);
    std::ranges::sort(times);
    return times[times.size() / 2];
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) {
    using namespace headway;
    const Kernel kernel(add_one());
    const Registry<Kernel> kernels({&kernel});
    const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
    const double alone = per_step(kernels, 1, 1, 0);
    const double kept = per_step(kernels, threads, 1, 1000);
    const double spinning = per_step(kernels, threads, 0, 1000);
    const double parking = per_step(kernels, threads, 0, 0);
    std::printf(
        "us per step: 1 thread %.3f; pool of %d, step on the caller %.3f; forked, spinning %.3f; forked, parked %.3f\n",
        alone, threads, kept, spinning, parking);
}
