// Convolution kernels on the layers of a thin ResNet-50 and of a text detector and recogniser. Counters: GFLOP/s of the
// convolution as ONNX defines it (Winograd may pass the peak) and that as a share of the core's measured peak.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/testing/conv_cases.h"
#include "kernels/kernel_testing.h"
#include "kernels_bench.h"

namespace headway {
namespace {

using testing::ConvCase;

struct Layer {
    const char* network;
    ConvCase conv;
    Layout src = Layout::nhwc;
};

ConvCase square(int64_t ic, int64_t size, int64_t oc, int64_t kernel, int64_t stride = 1, int64_t group = 1,
                int64_t height = 0) {
    const int64_t pad = kernel / 2;
    ConvCase c;
    c.ic = ic, c.ih = height == 0 ? size : height, c.iw = size, c.oc = oc, c.kh = c.kw = kernel, c.sh = c.sw = stride;
    c.top = c.left = c.bottom = c.right = pad;
    c.group = group;
    return c;
}

std::vector<Layer> layers() {
    return {
        {"resnet", square(3, 224, 64, 7, 2), Layout::plain},
        {"resnet", square(3, 224, 64, 7, 2)},
        {"resnet", square(32, 56, 32, 3)},
        {"resnet", square(64, 28, 64, 3)},
        {"resnet", square(128, 14, 128, 3)},
        {"resnet", square(256, 7, 256, 3)},
        {"resnet", square(32, 56, 128, 1)},
        {"resnet", square(128, 56, 32, 1)},
        {"resnet", square(128, 56, 256, 1, 2)},
        {"resnet", square(64, 28, 256, 1)},
        {"resnet", square(256, 28, 64, 1)},
        {"resnet", square(128, 14, 512, 1)},
        {"resnet", square(512, 14, 128, 1)},
        {"resnet", square(512, 14, 1024, 1, 2)},
        {"resnet", square(256, 7, 1024, 1)},
        {"resnet", square(1024, 7, 256, 1)},
        {"det", square(3, 320, 16, 3, 2), Layout::plain},
        {"det", square(96, 80, 24, 3)},
        {"det", square(96, 40, 24, 3)},
        {"det", square(96, 20, 24, 3)},
        {"det", square(16, 160, 32, 1)},
        {"det", square(48, 80, 48, 1)},
        {"det", square(96, 40, 96, 1)},
        {"det", square(192, 20, 192, 1)},
        {"det", square(384, 10, 384, 1)},
        {"det", square(12, 80, 96, 1)},
        {"det", square(48, 80, 12, 1)},
        {"det", square(16, 160, 16, 3, 1, 16)},
        {"det", square(32, 160, 32, 3, 2, 32)},
        {"det", square(96, 40, 96, 3, 1, 96)},
        {"det", square(192, 20, 192, 5, 1, 192)},
        {"det", square(384, 10, 384, 5, 1, 384)},
        {"det", square(96, 160, 96, 7, 1, 96)},
        {"det", square(48, 320, 24, 3, 2), Layout::plain},
        {"rec", square(240, 40, 240, 1, 1, 1, 12)},
        {"rec", square(240, 40, 240, 5, 1, 240, 12)},
        {"rec", square(480, 40, 480, 1, 1, 1, 3)},
        {"pitch",
         {.ic = 8, .ih = 172, .iw = 264, .oc = 8, .kh = 3, .kw = 39, .top = 1, .left = 19, .bottom = 1, .right = 19}},
        {"pitch",
         {.ic = 12, .ih = 128, .iw = 312, .oc = 12, .kh = 7, .kw = 1, .dh = 17, .top = 51, .bottom = 51},
         Layout::plain},
        {"pitch", {.ic = 1, .ih = 1, .iw = 44098, .oc = 1, .kh = 1, .kw = 256, .sw = 2}, Layout::plain},
        {"pitch", {.ic = 1, .ih = 1, .iw = 44100, .oc = 36, .kh = 1, .kw = 256, .sw = 256}, Layout::plain},
        {"pitch",
         {.ic = 32, .ih = 172, .iw = 88, .oc = 1, .kh = 7, .kw = 3, .top = 3, .left = 1, .bottom = 3, .right = 1}},
    };
}

// The layer as seen by kernels that write `dst`: plain images stay plain, others lie as the output does.
testing::ConvInstance instance_of(const Layer& layer, Layout dst) {
    return make_conv(layer.conv, layer.src == Layout::plain ? Layout::plain : dst, dst, testing::Expect::nothing);
}

void run_layer(benchmark::State& state, const Kernel& kernel, const Layer& layer, Layout dst, const Target& target,
               double peak) {
    const testing::ConvInstance instance = instance_of(layer, dst);
    const testing::KernelCase test = testing::case_of(instance.problem, instance.src, {});
    const testing::KernelRun bench(kernel, test, target, {false, testing::Guard::before});  // aligned at a page
    using Clock = std::chrono::steady_clock;
    double best = 1e9;  // the least disturbed run
    for (auto _ : state) {
        const auto start = Clock::now();
        bench.run();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    const double gflops = conv_flops(conv_geometry(instance.problem)) / best * 1e-9;
    state.counters["best_us"] = best * 1e6;
    state.counters["GFLOP/s"] = gflops;
    state.counters["of_peak"] = gflops / peak;
}

std::string name_of(const Layer& layer, Layout dst, const Kernel& kernel) {
    const ConvCase& c = layer.conv;
    const auto x = [](int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
    return std::string(layer.network) + "/" + x(c.ic, c.oc) + "_k" + x(c.kh, c.kw) + "_s" + x(c.sh, c.sw) + "_at" +
           x(c.ih, c.iw) + (c.group > 1 ? "_g" + std::to_string(c.group) : "") +
           (layer.src == Layout::plain ? "_plain" : "") +
           (dst == Layout::nhwc ? "" : "_" + std::string(to_string(dst))) + "/" + std::string(kernel.name());
}

}  // namespace

void register_convolutions(double peak) {
    static const Target target = Target::native();
    static const Registry<Kernel> kernels = declared<Kernel>();
    for (const Layer& layer : layers())
        for (const Kernel* kernel : kernels)
            for (Layout dst : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c}) {
                if (kernel->fields().isa == Isa::baseline) continue;
                if (!kernel->supports(instance_of(layer, dst).problem, target, {})) continue;
                benchmark::RegisterBenchmark(name_of(layer, dst, *kernel).c_str(),
                                             [kernel, layer, dst, peak](benchmark::State& state) {
                                                 run_layer(state, *kernel, layer, dst, target, peak);
                                             })
                    ->Unit(benchmark::kMicrosecond)
                    ->MinTime(0.05);
            }
}

}  // namespace headway
