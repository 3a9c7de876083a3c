// Judgements on a fixed number of visits: the comparison of `bench`, and the A/A control of a session.
#pragma once

#include <span>

#include "measure/finding.h"
#include "measure/statistics.h"

namespace headway {

struct Comparison {
    Finding finding = Finding::no_gain;
    Why why = Why::none;
    Interval speedup;       // with 95 % confidence
    double resolution = 0;  // smallest log speed-up beyond the margin that these visits find with 80 % power
};

// FASTER or SLOWER when the sign-flip test says so beyond the margin, on each side at half of alpha. Needs at least two
// values; too few for the test give NO_GAIN with Why::budget.
Comparison compare_fixed(std::span<const double> log_speedups, double margin, double alpha = 0.05);

// Race of a copy of the reference against the reference.
struct Control {
    bool fit = true;  // false: no claims on this machine now
    double p = 1;
    double margin = 0;  // smallest gain worth claiming: half a percent, or what the control cannot exclude
    double spread = 0;  // standard deviation of visit values
};
// Fewer than 8 visits can never say "unfit".
Control judge_control(std::span<const double> log_speedups);

// More than a fifth of the rounds dropped.
bool too_many_dropped(int dropped, int rounds);

// More than a fifth of the rounds tied to the tick (see tied_rounds): what was not told apart is then the clock's
// fault, Why::clock, and no sign of equal engines.
bool too_many_tied(int tied, int rounds);

}  // namespace headway
