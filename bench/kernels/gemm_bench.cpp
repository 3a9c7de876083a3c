// Matrix products of real networks: rows x k by k x columns, the right operand constant, as `matmul` kernels run them
// on one core. Counters as in conv_bench.cpp.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "kernels/kernel_testing.h"
#include "kernels_bench.h"

namespace headway {
namespace {

struct Product {
    const char* network;
    int64_t m, k, n;
};

constexpr Product products[] = {
    {"minilm", 16, 384, 384},    {"minilm", 128, 384, 384},   {"minilm", 128, 384, 1536},  {"minilm", 128, 1536, 384},
    {"minilm", 512, 384, 1536},  {"bert", 128, 768, 768},     {"bert", 128, 768, 3072},    {"bert", 128, 3072, 768},
    {"deit", 197, 192, 576},     {"deit", 197, 192, 768},     {"deit", 197, 768, 192},     {"convnext", 3136, 96, 384},
    {"convnext", 3136, 384, 96}, {"convnext", 784, 192, 768}, {"convnext", 49, 768, 3072}, {"rec", 40, 120, 6625},
    {"rec", 40, 240, 120},       {"decode", 1, 768, 3072},    {"decode", 1, 3072, 768},
};

Problem problem_of(const Product& product) {
    Problem problem;
    problem.op = "MatMul";
    problem.src = {TensorDesc{ElementType::f32, Shape{product.m, product.k}, Layout::plain},
                   TensorDesc{ElementType::f32, Shape{product.k, product.n}, Layout::plain}};
    problem.constant = {false, true};
    problem.dst = {TensorDesc{ElementType::f32, Shape{product.m, product.n}, Layout::plain}};
    return problem;
}

void run_product(benchmark::State& state, const Kernel& kernel, const Product& product, const Target& target,
                 double peak) {
    const Problem problem = problem_of(product);
    Tensor a(ElementType::f32, problem.src[0]->shape), b(ElementType::f32, problem.src[1]->shape);
    for (Tensor* tensor : {&a, &b})
        for (float& value : tensor->mutable_data<float>()) value = 0.5F;
    const testing::KernelCase test = testing::case_of(problem, {a, b}, {});
    const testing::KernelRun bench(kernel, test, target, {false, testing::Guard::before});  // aligned at a page
    using Clock = std::chrono::steady_clock;
    double best = 1e9;  // the least disturbed run
    for (auto _ : state) {
        const auto start = Clock::now();
        bench.run();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    const double gflops = 2e-9 * static_cast<double>(product.m * product.k * product.n) / best;
    state.counters["best_us"] = best * 1e6;
    state.counters["GFLOP/s"] = gflops;
    state.counters["of_peak"] = gflops / peak;
}

}  // namespace

void register_products(double peak) {
    static const Target target = Target::native();
    static const Registry<Kernel> kernels = declared<Kernel>();
    for (const Product& product : products)
        for (const Kernel* kernel : kernels) {
            if (kernel->fields().isa == Isa::baseline || kernel->fields().compute != ComputeFormat::fp32) continue;
            if (std::ranges::find(kernel->fields().ops, "MatMul") == kernel->fields().ops.end() ||
                !kernel->supports(problem_of(product), target, {}))
                continue;
            const std::string name = std::string(product.network) + "/" + std::to_string(product.m) + "x" +
                                     std::to_string(product.k) + "x" + std::to_string(product.n) + "/" +
                                     std::string(kernel->name());
            benchmark::RegisterBenchmark(name.c_str(),
                                         [kernel, &product, peak](benchmark::State& state) {
                                             run_product(state, *kernel, product, target, peak);
                                         })
                ->Unit(benchmark::kMicrosecond)
                ->MinTime(0.05);
        }
}

}  // namespace headway
