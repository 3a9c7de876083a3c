// What disturbs the measurements of a made-up machine, in log time, and named machines: quiet ones, those seen on a
// shared cloud VM, and ones that exaggerate a single disturbance.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headway {

// The default is a shared cloud VM whose speed wanders slowly: paired rounds of one engine spread by 1.6 %, raw block
// times correlate with the next one at about 0.5.
struct Noise {
    double layout_sd = 0.005;  // per process; a ratio of two processes has sqrt(2) times that
    double block_sd = 0.01;
    bool heavy_tails = false;      // block noise from Student's distribution with 2 degrees of freedom: no variance
    double drift_sd = 0.03;        // stationary, shared by all engines
    double drift_memory = 0.97;    // correlation from one block to the next
    double burst_chance = 0.1;     // of a round: up to 20 % slower, whoever runs
    double outlier_chance = 0.04;  // of a block: up to 30 % slower
    double steal_chance = 0;       // of a block to begin a spell in which the host takes up to 60 % of each block ...
    double steal_memory = 0.9;     // ... and of the next block to be in it too
    double ramp = 0;               // slower by this when the run begins, e times less after each 40 blocks
    double thermal = 0;            // slow swing, 300 blocks from one top to the next
    double position = 0;           // slower by this per place further back in the round
    // Of a block to be disturbed by 10 %, twice as often for every engine but the reference; the guard sees it and
    // drops the round.
    double guard_chance = 0;
};

struct NoiseProfile {
    std::string_view name;
    std::string_view help;
    Noise noise;
};
std::span<const NoiseProfile> noise_profiles();

// Of paired values: sd of a round's log ratio within a visit, sd of a visit's true log ratio between visits.
Noise noise_of_components(double round_sd, double process_sd);

// A profile by name; UserError naming the ones there are.
Noise find_noise(const std::string& name);

}  // namespace headway
