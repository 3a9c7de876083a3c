// What a value of a site knob would save at single sites, read from step times: a graph-wide change that loses as a
// whole may still win at some of its sites. Sums of step times only propose routes; whole engines are timed before
// anything is believed.
#pragma once

#include <string>
#include <vector>

#include "search/lessons.h"

namespace headway {

struct SiteSaving {
    const KnobBase* knob;
    std::string site;
    std::string value;
    double share = 0;  // of the default engine's time
};

// The best value for each (knob, site) at which some value saves time, the largest savings first. Reads graph-wide
// single changes of knobs that have a graph-wide axis, together with the step times observed for them.
std::vector<SiteSaving> site_savings(const Lessons& lessons);

// The space with an axis for each of the most promising sites, and for each site that the history already speaks of.
RouteSet with_site_axes(const RouteSet& set, const std::vector<SiteSaving>& savings,
                        std::span<const Observation> history);

}  // namespace headway
