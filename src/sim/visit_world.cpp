#include "sim/visit_world.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headway {
namespace {

constexpr double block_length_ns = 50e6;
constexpr double burst_size = 0.2, outlier_size = 0.3, steal_size = 0.6, disturbance = 0.1;
constexpr double most_deviation = 50;  // of heavy tails
constexpr double ramp_blocks = 40, thermal_blocks = 300;

}  // namespace

double VisitWorld::normal() {
    return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit());
}

double VisitWorld::block_noise() {
    const double value = normal();
    if (!noise.heavy_tails) return value;
    // half of a chi-square with 2 degrees of freedom is exponential
    return std::clamp(value / std::sqrt(-std::log(1 - rng.unit())), -most_deviation, most_deviation);
}

double VisitWorld::log_block(double process) {
    drift_ = noise.drift_memory * drift_ +
             noise.drift_sd * std::sqrt(1 - noise.drift_memory * noise.drift_memory) * normal();
    double log_time = process + drift_ + noise.block_sd * block_noise();
    if (rng.chance(noise.outlier_chance)) log_time += outlier_size * rng.unit();
    stolen_ = rng.chance(stolen_ ? noise.steal_memory : noise.steal_chance);
    if (stolen_) log_time += steal_size * rng.unit();
    const auto blocks = static_cast<double>(blocks_++);
    if (noise.ramp > 0) log_time += noise.ramp * std::exp(-blocks / ramp_blocks);
    if (noise.thermal > 0) log_time += noise.thermal * std::sin(2 * std::numbers::pi * blocks / thermal_blocks);
    return log_time;
}

int64_t VisitWorld::block_ns(int engine, int64_t, int64_t) {
    double log_time = log_block(processes_[static_cast<size_t>(engine)]) + burst_ + noise.position * position_++;
    if (noise.guard_chance > 0 && rng.chance(engine == 0 ? noise.guard_chance : 2 * noise.guard_chance)) {
        log_time += disturbance;
        disturbed_ = true;
    }
    return std::llround(block_length_ns * std::exp(log_time));
}

void VisitWorld::begin_round() {
    burst_ = rng.chance(noise.burst_chance) ? burst_size * rng.unit() : 0;
    position_ = 0;
    disturbed_ = false;
}

std::optional<std::string> VisitWorld::end_round(int64_t) {
    return disturbed_ ? std::optional<std::string>("disturbed") : std::nullopt;
}

Visit VisitWorld::run(std::span<const double> gains) {
    processes_ = {noise.layout_sd * normal()};
    for (const double gain : gains) processes_.push_back(noise.layout_sd * normal() - gain);
    return run_visit(static_cast<int>(processes_.size()), rounds, {}, *this, this, rng);
}

std::vector<RoundTimes> VisitWorld::counted(const Visit& visit) {
    std::vector<RoundTimes> kept = visit.kept();
    return kept.empty() ? visit.rounds : kept;
}

double VisitWorld::pair_value(double gain) { return visit_value(visit(std::span(&gain, 1)), 1); }

std::vector<double> VisitWorld::pair_values(double gain, int visits) {
    std::vector<double> values;
    for (int i = 0; i < visits; ++i) values.push_back(pair_value(gain));
    return values;
}

}  // namespace headway
