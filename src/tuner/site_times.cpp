#include "tuner/site_times.h"

#include <algorithm>
#include <limits>
#include <map>

#include "measure/clock.h"

namespace headway {
namespace {

constexpr double deadline_s = 60;
constexpr int turns = 4;
constexpr int64_t turn_ns = 15'000'000;  // of each engine
constexpr int64_t most_iterations = 1000;

// Time of each site's steps in one turn. Steps that belong to no site do not count.
using Turn = std::map<std::string, double>;

Turn profile(WorkerClient& worker, const std::string& engine, int64_t iterations, double deadline) {
    Turn turn;
    for (const StepTime& step : worker.profile(engine, iterations, deadline))
        if (!step.origins.empty()) turn[step.origins.front()] += static_cast<double>(step.ns);
    return turn;
}

// Noise only adds time, and the least of a few turns has least of it.
void keep_least(Turn& least, const Turn& turn) {
    for (const auto& [site, ns] : turn) {
        double& kept = least.try_emplace(site, std::numeric_limits<double>::infinity()).first->second;
        kept = std::min(kept, ns);
    }
}

}  // namespace

bool worth_profiling(const Route& route, const Registry<KnobBase>& knobs) {
    const std::vector<Route::Setting> settings = route.settings();
    return settings.size() == 1 && settings[0].site.empty() && knobs.find(settings[0].knob)->scope() == Scope::site;
}

std::vector<SiteTime> profile_sites(const Session& session, const Workshop& workshop, const std::string& reference,
                                    const std::string& candidate) {
    const double deadline = session.deadline(deadline_s);
    const auto worker = workshop.start(deadline);
    worker->load(reference, 1, deadline);
    worker->load(candidate, 1, deadline);
    profile(*worker, reference, 1, deadline);  // cold
    const int64_t begin = clock_ns();
    profile(*worker, reference, 1, deadline);
    const int64_t iterations =
        std::clamp<int64_t>(turn_ns / std::max<int64_t>(1, clock_ns() - begin), 1, most_iterations);
    profile(*worker, candidate, 1, deadline);
    Turn start, other;
    for (int turn = 0; turn < turns; ++turn) {
        keep_least(start, profile(*worker, reference, iterations, deadline));
        keep_least(other, profile(*worker, candidate, iterations, deadline));
    }
    std::vector<SiteTime> sites;
    for (const auto& [site, ns] : start)
        if (const auto at = other.find(site); at != other.end()) sites.push_back({site, ns, at->second});
    return sites;
}

}  // namespace headway
