#include "sim/noise.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

// Small everywhere, so that one disturbance added to it stands alone.
constexpr Noise quiet{.layout_sd = 0.002,
                      .block_sd = 0.003,
                      .drift_sd = 0.002,
                      .drift_memory = 0.9,
                      .burst_chance = 0,
                      .outlier_chance = 0};

constexpr Noise with(double Noise::*field, double value) {
    Noise noise = quiet;
    noise.*field = value;
    return noise;
}

constexpr Noise drifting() {
    Noise noise = quiet;
    noise.drift_sd = 0.03;
    noise.drift_memory = 0.97;
    return noise;
}

constexpr Noise heavy() {
    Noise noise = quiet;
    noise.heavy_tails = true;
    noise.block_sd = 0.01;
    return noise;
}

constexpr std::array profiles{
    NoiseProfile{"quiet", "a machine with nothing else to do", quiet},
    NoiseProfile{"cloud", "a shared cloud VM: layout, drift, bursts, outliers", Noise{.layout_sd = 0.007}},
    NoiseProfile{"choppy", "a shared cloud VM whose speed jumps from block to block by 3 %, AR(0.6)",
                 Noise{.layout_sd = 0.007, .drift_memory = 0.6}},
    NoiseProfile{"drift", "the speed of the machine wanders by 3 %", drifting()},
    NoiseProfile{"steal", "spells in which the host takes the CPU away", with(&Noise::steal_chance, 0.02)},
    NoiseProfile{"heavy_tails", "block times without a variance", heavy()},
    NoiseProfile{"layout", "processes that differ by 2 %, rounds that hardly do", with(&Noise::layout_sd, 0.02)},
    NoiseProfile{"ramp", "30 % slower when the run begins", with(&Noise::ramp, 0.3)},
    NoiseProfile{"thermal", "a slow swing of 5 %", with(&Noise::thermal, 0.05)},
    NoiseProfile{"position", "1 % slower per place further back in the round", with(&Noise::position, 0.01)},
    NoiseProfile{"guards", "candidates trigger a guard twice as often as the reference",
                 with(&Noise::guard_chance, 0.03)},
};

}  // namespace

std::span<const NoiseProfile> noise_profiles() { return profiles; }

Noise noise_of_components(double round_sd, double process_sd) {
    Noise noise = quiet;
    noise.block_sd = round_sd / std::numbers::sqrt2;
    noise.layout_sd = process_sd / std::numbers::sqrt2;
    noise.drift_sd = 0;  // a part of the rounds' spread already
    return noise;
}

Noise find_noise(const std::string& name) {
    std::vector<std::string> names;
    for (const NoiseProfile& profile : profiles) {
        if (profile.name == name) return profile.noise;
        names.emplace_back(profile.name);
    }
    throw UserError("no noise profile '" + escaped(name) + "'; there are " + join(names, ", "));
}

}  // namespace headway
