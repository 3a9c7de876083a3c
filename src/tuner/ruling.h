// From candidates to a verdict: the race among the best, the confirm test on fresh visits, the estimate on further
// ones, and the gate on held-out data. Nothing here looks at how the candidates were found.
#pragma once

#include <string>
#include <vector>

#include "measure/confirm.h"
#include "measure/statistics.h"
#include "tuner/arena.h"
#include "tuner/trials.h"

namespace headway {

// The winner beside the best engine of another builder, in the report's visits.
struct PeerGain {
    std::string fingerprint;
    Interval speedup{1, 1, 1};  // of the winner over it
};

struct Ruling {
    Finding finding = Finding::no_gain;
    Why why = Why::none;
    std::string detail;  // what `why` cannot say, e.g. a failed hold-out
    std::string winner;  // fingerprint; "" = the default engine
    Interval speedup{1, 1, 1};
    std::vector<PeerGain> peers;
    int confirm_visits = 0, report_visits = 0;
    bool estimate_is_biased = false;  // no time was left for report visits
    double p = 1, level = 0;
    double resolution = 0;  // smallest gain that the tests could have found
    std::vector<std::string> finalists;
    std::string heldout_json = "null";
};

class Decider {
public:
    Decider(Session& session, Arena& arena, Trials& trials) : session_(session), arena_(arena), trials_(trials) {}

    // Seconds to keep back for race, confirm, report and hold-out; never more than the limit.
    double reserve() const;
    // The least with which a large gain can still be claimed.
    double least_reserve() const;
    void limit_reserve(double seconds) { most_reserve_ = seconds; }
    Ruling decide();

private:
    std::vector<std::string> contenders() const;
    std::vector<std::string> race(const std::vector<std::string>& engines);
    std::vector<std::string> choose(const std::vector<std::string>& engines) const;
    Ruling confirm(const std::vector<std::string>& finalists);
    void confirm_visit(Confirm& confirm, const std::string& finalist);
    void estimate(Ruling& ruling, const std::string& claimed, const std::vector<double>& confirm_values);
    std::vector<std::string> best_of_other_builders(const std::string& claimed);
    bool passes_heldout(Ruling& ruling, const std::string& fingerprint);
    int affordable_visits() const;
    double heldout_seconds() const;
    double report_seconds() const;
    double closing_seconds() const;  // of what a claim is followed by: pruning of its route and the hold-out

    Session& session_;
    Arena& arena_;
    Trials& trials_;
    int confirm_rounds_ = 0, confirm_dropped_ = 0;
    double most_reserve_ = 1e9;
};

}  // namespace headway
