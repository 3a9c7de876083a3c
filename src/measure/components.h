// Where the noise of a comparison comes from, and how many rounds a visit should have (Kalibera and Jones, ISMM 2013):
// fresh processes differ by their memory layout, rounds within a process by everything else.
#pragma once

#include <span>
#include <vector>

namespace headway {

struct Components {
    double round_sd = 0;    // of a round's log ratio within a visit
    double process_sd = 0;  // of a visit's true log ratio between visits
};

// From the paired log ratios of several visits of one engine; visits may differ in length. Needs at least two visits,
// one of them with two rounds.
Components variance_components(std::span<const std::vector<double>> visits);

// Rounds per visit that give the smallest error for the time: cost of a visit is `load_cost` + rounds x `round_cost`.
int best_rounds(const Components& components, double load_cost, double round_cost);

}  // namespace headway
