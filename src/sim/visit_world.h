// A made-up machine on which visits run: engines are true log speed-ups, processes and blocks get their noise from a
// profile. Rounds, their order and what guards drop are those of run_visit. Needs no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "measure/visit.h"
#include "sim/noise.h"

namespace headway {

class VisitWorld final : private BlockRunner, private RoundGuard {
public:
    explicit VisitWorld(const Noise& noise = {}, uint64_t seed = 1) : noise(noise), rng(seed) {}

    Noise noise;
    int rounds = 6;  // of a visit
    Rng rng;

    // One visit of the reference and engines with these true log speed-ups, by fresh processes.
    Visit run(std::span<const double> gains);
    // The rounds that count, as for the tuner: the kept ones, or all when the guards dropped all.
    static std::vector<RoundTimes> counted(const Visit& visit);
    std::vector<RoundTimes> visit(std::span<const double> gains) { return counted(run(gains)); }

    // The value of one visit of the reference and a single engine.
    double pair_value(double gain);
    std::vector<double> pair_values(double gain, int visits);

    // ln(time) of the next block, of a process with this true log time, outside of any round.
    double log_block(double process);

private:
    int64_t block_ns(int engine, int64_t iterations, int64_t preroll) override;
    void begin_round() override;
    std::optional<std::string> end_round(int64_t round_ns) override;
    double normal();
    double block_noise();

    std::vector<double> processes_;  // ln(time) of each engine's process of this visit
    double drift_ = 0;
    double burst_ = 0;
    bool stolen_ = false, disturbed_ = false;
    int position_ = 0;
    int64_t blocks_ = 0;
};

}  // namespace headway
