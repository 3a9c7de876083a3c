// Speed of single kernels on the layers of real networks, beside the core's measured peak.
#include <cstdio>

#include <benchmark/benchmark.h>

#include "kernels_bench.h"
#include "peak.h"

int main(int argc, char** argv) {
    const double peak = headway::measured_peak_gflops();
    std::printf("core peak: %.1f GFLOP/s\n", peak);
    headway::register_convolutions(peak);
    headway::register_products(peak);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
