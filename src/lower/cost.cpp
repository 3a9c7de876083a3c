#include "lower/cost.h"

#include <algorithm>

namespace headway {
namespace {

// Two fused multiply-adds a cycle and port on every AVX2 and AVX-512 server core since Haswell and Zen, at 3 GHz. Only
// ratios between candidates matter; the absolute scale enters through threads.min_task_us.
constexpr double cycles_per_us = 3000;
constexpr double flops_per_cycle_and_lane = 4;
// Streaming bandwidth of one core in bytes per microsecond by where the data fit (measured on Zen 4: L2 100, L3 57,
// DRAM 25 GB/s; a kernel that also computes gets somewhat less).
constexpr double l2_bandwidth = 60e3, l3_bandwidth = 40e3, memory_bandwidth = 18e3;

// Where 512-bit operations run in 256-bit units, narrow code issues twice the instructions for the same work and has
// half the registers to hold sums in: 4 to 6 % on 1x1 convolutions on Zen 4.
constexpr double narrow_code = 0.95;

// f32 lanes of the multiply-add units that code for an instruction set fills. Baseline code has no fused multiply-add:
// four lanes at half the rate.
double lanes_of(Isa isa, const Target& target) {
    if (isa == Isa::avx512) return 8 * target.fma512;
    if (isa == Isa::avx2) return target.isa == Isa::avx512 && target.fma512 == 1 ? 8 * narrow_code : 8;
    return 2;
}

const Knob<int64_t> bandwidth_percent{{
    .name = "cost.bandwidth_percent",
    .help = "Bandwidth that the cost model assumes, in percent of its nominal figures: lower values prefer kernels and "
            "layouts that move fewer bytes.",
    .family = "layout",
    .values = {100, 25, 50, 200, 400},
    .numerics = Numerics::reorders,
    .witness = "winograd_small",
}};

const Knob<int64_t> overlap_percent{{
    .name = "cost.overlap_percent",
    .help = "Share of the shorter of computing and moving bytes that the longer one does not hide, as the cost model "
            "sees it. More prefers kernels that move fewer bytes even where computing takes longer: for threads that "
            "share a bandwidth. It also tells kernels apart that move the same bytes.",
    .family = "layout",
    .values = {15, 0, 50, 100},
    .numerics = Numerics::reorders,
    .witness = "conv_chain",
    .witness_target = "isa=avx512 l2=65536 l3=262144",
}};

const Knob<int64_t> step_ns{{
    .name = "cost.step_ns",
    .help =
        "Price of entering a step in the cost model, in nanoseconds: claiming tiles, loading arguments. More avoids "
        "reorders between small layers, as with many threads; less seeks the best kernel for each.",
    .family = "layout",
    .values = {200, 0, 1000, 5000},
    .numerics = Numerics::reorders,
    .witness = "layout_mix",
    .witness_route = "layout.sweeps=1",
}};

const Knob<int64_t> cache_percent{{
    .name = "cost.cache_percent",
    .help = "Share of the caches that the cost model gives a step, in percent. Less where neighbours use them too: "
            "kernels and layouts that move fewer bytes win earlier.",
    .family = "layout",
    .values = {100, 12, 50, 200},
    .numerics = Numerics::reorders,
    .witness = "winograd_small",
    .witness_target = "isa=avx512 l2=262144 l3=300000",
}};

double step_us(const Route& route) { return static_cast<double>(route.get(step_ns)) / 1e3; }

double bandwidth(double bytes, const Target& target, const Route& route) {
    const double share = static_cast<double>(route.get(cache_percent)) / 100;
    const double nominal = bytes <= share * static_cast<double>(target.l2_bytes)   ? l2_bandwidth
                           : bytes <= share * static_cast<double>(target.l3_bytes) ? l3_bandwidth
                                                                                   : memory_bandwidth;
    return nominal * static_cast<double>(route.get(bandwidth_percent)) / 100;
}

}  // namespace

double predicted_us(const Work& work, Isa isa, const Target& target, const Route& route) {
    const double peak = cycles_per_us * flops_per_cycle_and_lane * lanes_of(isa, target);
    const double compute = work.flops / (peak * std::max(work.efficiency, 1e-3));
    const double memory = work.bytes / bandwidth(work.bytes, target, route);
    const double overlap_loss = static_cast<double>(route.get(overlap_percent)) / 100;
    return std::max(compute, memory) + overlap_loss * std::min(compute, memory) + step_us(route);
}

double copy_us(double bytes, const Target& target, const Route& route) {
    return 2 * bytes / bandwidth(2 * bytes, target, route) + step_us(route);
}

}  // namespace headway
