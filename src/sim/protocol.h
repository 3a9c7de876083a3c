// One whole run of the claim protocol over made-up candidates, with the state machines of src/measure in the order of
// the tuner: control, race, finalists, confirm looks, report. The tuner screens engines while it searches and races the
// best eight; here all candidates race from the start.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "measure/confirm.h"
#include "measure/race.h"
#include "measure/statistics.h"
#include "sim/visit_world.h"

namespace headway {

struct ProtocolRules {
    int control_visits = 12;
    int control_rounds = 4;
    int race_rounds = 2;
    double load_cost = 0.5, block_cost = 0.08;  // in seconds; decide the rounds of a confirm visit
    RaceRules race;
    ConfirmRules confirm;          // its margin is overwritten
    std::optional<double> margin;  // none: what the control says
    int affordable = 1000;         // confirm visits
    int report_visits = 12;
};

struct ProtocolRun {
    Finding finding = Finding::no_gain;
    Why why = Why::none;
    double margin = 0;
    int claimed = -1;          // candidate
    double true_gain = 0;      // its log speed-up, as all gains here
    double race_estimate = 0;  // its mean in the race
    Interval speedup;          // as printed: of the report visits
    int claim_visits = 0;      // confirm visits of the claimed one
    int confirm_visits = 0;    // of all finalists
    int64_t blocks = 0;        // of all visits
};

// `gains`: the candidates' true log speed-ups. The same seed and world state give the same run.
ProtocolRun run_protocol(VisitWorld& world, std::span<const double> gains, const ProtocolRules& rules, uint64_t seed);

}  // namespace headway
