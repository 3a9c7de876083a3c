// A made-up machine for tests of the measuring code: blocks with slow drift that all engines share, a memory layout per
// process, bursts and outliers. Sizes are those seen on a shared cloud VM. Needs no clock.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "base/rng.h"
#include "measure/rounds.h"

namespace headway {

struct VisitWorld {
    double layout_sd = 0.005;  // per process; a ratio of two processes has sqrt(2) times that
    double block_sd = 0.01;
    double drift_sd = 0.03;        // stationary, shared by all engines
    double drift_memory = 0.97;    // correlation from one block to the next
    double burst_chance = 0.1;     // of a round: up to 20 % slower, whoever runs
    double outlier_chance = 0.04;  // of a block: up to 30 % slower
    int rounds = 6;

    Rng rng{1};
    double drift = 0;

    double normal() { return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit()); }

    // ln(time) of one block of an engine whose process adds `process` to its true log time.
    double block(double process, double burst) {
        drift = drift_memory * drift + drift_sd * std::sqrt(1 - drift_memory * drift_memory) * normal();
        double log_time = process + drift + block_sd * normal() + burst;
        if (rng.chance(outlier_chance)) log_time += 0.3 * rng.unit();
        return log_time;
    }

    // One visit of the reference and engines with these true log speed-ups, by fresh processes.
    std::vector<RoundTimes> visit(std::span<const double> gains) {
        std::vector<double> processes{layout_sd * normal()};
        for (const double gain : gains) processes.push_back(layout_sd * normal() - gain);
        std::vector<RoundTimes> times;
        for (const RoundOrder& order : round_orders(static_cast<int>(processes.size()), rounds, rng)) {
            const double burst = rng.chance(burst_chance) ? 0.2 * rng.unit() : 0;
            RoundTimes round(order.size());
            for (const int engine : order)
                round[static_cast<size_t>(engine)] =
                    std::llround(50e6 * std::exp(block(processes[static_cast<size_t>(engine)], burst)));
            times.push_back(std::move(round));
        }
        return times;
    }

    // The value of one visit of the reference and a single engine.
    double pair_value(double gain) { return visit_value(visit(std::span(&gain, 1)), 1); }

    std::vector<double> pair_values(double gain, int visits) {
        std::vector<double> values;
        for (int i = 0; i < visits; ++i) values.push_back(pair_value(gain));
        return values;
    }
};

}  // namespace headway
