// Step times of a candidate beside those of the default engine, for the search only: they say at which sites a
// graph-wide value pays. No claim rests on them.
#pragma once

#include <string>
#include <vector>

#include "search/strategy.h"
#include "tuner/session.h"

namespace headway {

// Whether the times of single sites teach more about this route than its total does: one value of a site knob, set for
// the whole graph.
bool worth_profiling(const Route& route, const Registry<KnobBase>& knobs);

// Loads both engine files into one fresh process and profiles them in turn; per site the least of several times. Throws
// WorkerError.
std::vector<SiteTime> profile_sites(const Session& session, const Workshop& workshop, const std::string& reference,
                                    const std::string& candidate);

}  // namespace headway
