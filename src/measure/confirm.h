// The claim: "this engine is faster than the reference by more than the margin". Finalists are tested one after the
// other on fresh visits, each at a few planned looks, until one is claimed. The chance that a run claims any engine
// which is not faster than the margin is at most alpha, whatever chose the finalists: the finalists' weights and the
// looks' shares sum to 1. A pure state machine: the caller runs the visits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/finding.h"

namespace headway {

struct Look {
    int visits = 0;    // in all, for this finalist
    double share = 0;  // of the finalist's error level
};

struct ConfirmRules {
    double alpha = 0.05;
    double margin = 0.005;  // log speed-up that a claim must exceed
    std::vector<double> weights = {0.6, 0.2, 0.2};
    std::vector<Look> looks = {{8, 0.2}, {16, 0.3}, {32, 0.5}};
};

// The looks of one finalist that fit `affordable` visits. Looks at which the sign-flip test cannot reach its level are
// left out (8 visits for the second and third finalist). The share of what is left out goes to the last look that
// remains; known before any data, so the sum stays the finalist's level. Empty: nothing fits.
std::vector<Look> fitting_looks(const ConfirmRules& rules, int finalist, int affordable);

struct ConfirmOutcome {
    Finding finding = Finding::no_gain;
    Why why = Why::none;
    int finalist = -1;      // the claimed one
    double p = 1;           // at the last look taken
    double level = 0;       // what p had to reach there
    double resolution = 0;  // gain over the margin that the best-tested finalist's looks could find; 0 = never tested
};

class Confirm {
public:
    // `affordable`: pair visits that the budget allows in all, those of the report not counted.
    Confirm(ConfirmRules rules, int finalists, int affordable, uint64_t seed);

    // The finalist that needs one more visit; none when it is over.
    std::optional<int> next() const;
    // The value of one visit of the finalist that next() named.
    void record(double log_speedup);
    // The named finalist is out (it crashed), or the claimed one is (its file failed a later check). Its share of the
    // error level stays spent.
    void withdraw();
    // The budget is over now.
    void stop();

    const ConfirmOutcome& outcome() const { return outcome_; }
    const std::vector<std::vector<double>>& values() const { return values_; }

private:
    void start_finalist();
    void next_finalist();
    void look();

    ConfirmRules rules_;
    int finalists_;
    int affordable_;
    uint64_t seed_;
    int current_ = 0;
    size_t look_ = 0;
    bool over_ = false;
    bool cut_short_ = false;
    std::vector<Look> looks_;
    std::vector<std::vector<double>> values_;
    ConfirmOutcome outcome_;
};

}  // namespace headway
