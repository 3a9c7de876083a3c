// What to build next. A strategy is a pure function of what was tried so far: it keeps no state, so a study that
// resumes after a kill gets the same proposals from the same history. It knows knobs and routes, no engines and no
// clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knobs/route.h"

namespace headway {

enum class Fate {
    built,    // an engine that passed the gate, or has not been gated yet
    wrong,    // an engine that failed the gate
    refused,  // not legal here
    failed,   // the build or the engine crashed, hung or ran out of memory
};

// The time of one site's steps, the reorders before them included, in the default engine and in another one, both
// profiled in turn.
struct SiteTime {
    std::string site;
    double start_ns = 0, ns = 0;
};

// One trial, as far as it is known.
struct Observation {
    Route route;
    Fate fate = Fate::built;
    std::string fingerprint;            // of the engine; "" without one
    std::optional<double> log_speedup;  // mean over the visits of this engine against the default; none = not measured
    double standard_error = 0.01;       // of it
    std::vector<SiteTime> sites;        // empty = not profiled
};

struct Ask {
    int batch = 1;             // most routes wanted now
    int affordable = 1 << 20;  // builds that the rest of the budget allows, this batch included
};

struct Proposal {
    Route route;
    std::string origin;  // in words for the log: "one at a time", "combination", ...
};

class Strategy {
public:
    virtual ~Strategy() = default;
    virtual std::string_view name() const = 0;
    // Up to `ask.batch` routes of the space that are not in the history, the most promising first. Empty: finished. The
    // history should hold the default route, at least once it is built.
    virtual std::vector<Proposal> propose(std::span<const Observation> history, const Ask& ask) const = 0;
};

// UserError for an unknown name. The knobs of the space must outlive the strategy.
std::unique_ptr<Strategy> make_strategy(std::string_view name, RouteSet space, uint64_t seed);
std::vector<std::string> strategy_names();

}  // namespace headway
