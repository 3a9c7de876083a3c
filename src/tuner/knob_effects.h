// What each value of each knob did to one model's speed, from the trials of one study: a route is compared with the
// same route without the setting. Estimates of the search's own visits, so biased: the search looks longest where it
// was lucky.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.h"
#include "tuner/study.h"

namespace headway {

enum class EffectState {
    untried,
    failed,      // no route with it gave an engine inside the tolerance
    inert,       // each route gave the same engine without it
    unmeasured,  // no two measured engines differ in it alone
    unclear,     // the interval at the level of the study holds "no effect"
    wins,
    loses,
};
std::string_view to_string(EffectState state);

// A graph-wide setting against the default of its knob.
struct KnobEffect {
    std::string builder, knob, value, default_value;
    EffectState state = EffectState::untried;
    std::string outcome;        // failed: of the first trial, e.g. "refused"
    Interval speedup{1, 1, 1};  // 95 %; wins, loses and unclear
    int pairs = 0;              // of measured engines that differ in this setting alone
    bool in_winner = false;     // part of the delivered route of a claim
    bool claimed = false;       // the whole of it: the interval is then that of the study's claim
};

struct KnobEffects {
    std::vector<KnobEffect> effects;  // by builder, knob in the order of the study, value
    double visit_deviation = 0;       // standard deviation of one visit's log speed-up
    int measured = 0;                 // effects with an estimate; `wins` and `loses` share an error level of 5 %
};

KnobEffects knob_effects(const Study& study);

}  // namespace headway
