#include "tuner/prune.h"

#include <algorithm>

#include "base/error.h"
#include "tuner/route_text.h"

namespace headway {
namespace {

class Pruner {
public:
    Pruner(Session& session, Trials& trials, const EngineRecord& engine)
        : session_(session),
          trials_(trials),
          fingerprint_(engine.fingerprint),
          builder_(engine.builder),
          route_(engine.route) {}

    // Passes to a fixed point: a setting that mattered may be free once another one is gone.
    std::string run() {
        try {
            adopt(shortest_known());
            while (pass()) continue;
        } catch (const WorkerError& error) {
            if (error.failure() != Failure::interrupted) throw;
        }
        return route_;
    }

private:
    // The search may have met the same engine on a shorter route already.
    std::string shortest_known() const {
        std::string shortest = route_;
        for (const Trial& trial : session_.study.trials())
            if (trial.builder == builder_ && trial.fingerprint == fingerprint_ &&
                route_settings(trial.route).size() < route_settings(shortest).size())
                shortest = trial.route;
        return shortest;
    }

    bool pass() {
        bool dropped = false;
        for (size_t i = 0; i < route_settings(route_).size();) {
            if (adopt(route_without(route_, i)))
                dropped = true;
            else
                ++i;
        }
        return dropped;
    }

    bool adopt(const std::string& route) {
        if (route == route_) return false;
        const Trial* known = trials_.find(builder_, route);
        if (known != nullptr && known->fingerprint != fingerprint_) return false;
        if (session_.budget.left_for_search() < trials_.longest_build_s()) return false;
        if (!trials_.rebuild(fingerprint_, route)) return false;
        route_ = route;
        return true;
    }

    Session& session_;
    Trials& trials_;
    const std::string fingerprint_, builder_;
    std::string route_;
};

}  // namespace

void prune_route(Session& session, Trials& trials, const std::string& fingerprint) {
    const EngineRecord* engine = session.study.find(fingerprint);
    HEADWAY_CHECK(engine != nullptr);
    session.progress.phase("dropping settings that change nothing");
    const std::string pruned = Pruner(session, trials, *engine).run();
    if (pruned != engine->route) session.study.record_pruned(fingerprint, pruned);
}

}  // namespace headway
