// The race: many candidates, few survivors, each visit spent on contenders. Sequential halving in heats of the
// reference and up to four candidates. It only chooses whom to confirm; its means are biased upwards for the winner. A
// pure state machine: it says which heats to run, the caller runs them and brings the visit values back.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace headway {

struct RaceStage {
    int visits = 0;  // of each survivor
    int keep = 0;    // survivors after it
};

struct RaceRules {
    int heat_size = 4;  // candidates beside the reference; memory decides
    int finalists = 3;
    // After the first visit, log speed-up behind the best of the same heat that ends a candidate's race. Not behind the
    // best of all: one disturbed block of a reference would lift its heat and end the race of everybody else.
    double clear_loser = 0.05;
};

// Stages for that many candidates: 2, 2, 3, 4 visits halving each time, then 5 and 6 visits for the last few. Stages
// that would keep everybody are left out, except the last two.
std::vector<RaceStage> race_stages(int candidates, int finalists);

// Candidates of one heat; the reference runs in every heat.
using Heat = std::vector<int>;

struct Standing {
    int candidate = 0;
    double mean = 0;  // log speed-up over the reference: "selection estimate, biased"
    std::vector<double> values;
    bool in_race = true;
};

class Race {
public:
    // Candidates are numbered 0..candidates-1.
    Race(int candidates, RaceRules rules, uint64_t seed);

    // The heats in which every survivor gets its next visit, shuffled so that nobody always shares a heat. Empty when
    // the race is over. May be called again only after the heats were run.
    std::vector<Heat> next_wave();
    void record(int candidate, double log_speedup);
    // Out: it crashed, or its process was killed.
    void withdraw(int candidate);

    // Survivors first, best mean first; candidates without a value are last. Valid at any time: a race may be left
    // early.
    std::vector<Standing> standings() const;

private:
    bool by_mean(int a, int b) const;
    std::vector<int> survivors() const;
    void drop_clear_losers();
    void end_stage();

    RaceRules rules_;
    std::vector<RaceStage> stages_;
    std::vector<Standing> standings_;
    std::vector<Heat> wave_;  // the last one
    Rng rng_;
    size_t stage_ = 0;
    int waves_ = 0;
    int waves_in_stage_ = 0;
};

}  // namespace headway
