// A made-up compiler for tests of search strategies: few of its knobs matter, they act on groups of layers whose times
// add up, pairs interact, some combinations fail to build and some values are inaccurate. Its optimum is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "search/space.h"
#include "search/strategy.h"

namespace headway {

struct LandscapeSize {
    size_t knobs = 60;
    size_t active = 14;
    double helpful = 0.3;   // share of levels that help
    double effect = 0.055;  // mean size
    double noise = 0.006;   // standard error of an observed log speed-up
    bool failures = true;
    double infeasible = 0;  // share of random routes that fail to build, by further forbidden pairs
};

class Landscape {
public:
    Landscape(LandscapeSize size, uint64_t seed) : size_(size), rng_(seed) {
        make_knobs();
        make_effects();
        best_ = find_best();
    }

    const Registry<KnobBase>& knobs() const { return registry_; }
    RouteSet space() const { return RouteSet::all(registry_); }
    double best() const { return best_; }
    const std::vector<size_t>& active() const { return active_; }

    // True log speed-up over the default; what a perfect measurement would see.
    double truth(const Route& route) const {
        const std::vector<int> levels = levels_of(route);
        return fate(levels) == Fate::built ? log_speedup(levels) : -HUGE_VAL;
    }

    Observation observe(const Route& route) {
        const std::vector<int> levels = levels_of(route);
        Observation seen{route, fate(levels), "", std::nullopt, size_.noise};
        if (seen.fate == Fate::failed) return seen;
        for (const size_t axis : active_) seen.fingerprint += std::to_string(levels[axis]) + " ";
        if (seen.fate == Fate::wrong) return seen;
        const auto known = measured_.find(seen.fingerprint);
        const double value = known != measured_.end() ? known->second : log_speedup(levels) + size_.noise * normal();
        measured_[seen.fingerprint] = value;
        seen.log_speedup = route == Route() ? 0 : value;
        return seen;
    }

    // Builds `builds` routes in batches; returns all that was seen, the default first.
    std::vector<Observation> search(const Strategy& strategy, int builds, int batch = 4) {
        std::vector<Observation> history{observe(Route())};
        while (static_cast<int>(history.size()) < builds) {
            const auto proposals = strategy.propose(history, {batch, builds - static_cast<int>(history.size())});
            if (proposals.empty()) break;
            for (const Proposal& proposal : proposals) history.push_back(observe(proposal.route));
        }
        return history;
    }

    // How far the engine that looks best is behind the best there is.
    double regret(const std::vector<Observation>& history) const {
        const Observation* leader = &history.front();
        for (const Observation& seen : history)
            if (seen.log_speedup && *seen.log_speedup > leader->log_speedup.value_or(0)) leader = &seen;
        return best_ - truth(leader->route);
    }

private:
    class MadeKnob final : public KnobBase {
    public:
        MadeKnob(std::string name, std::string family, size_t levels) {
            name_ = std::move(name);
            family_ = std::move(family);
            for (size_t level = 0; level < levels; ++level) values_.push_back("v" + std::to_string(level));
        }
    };

    struct Pair {
        size_t a, b;
        int level_a, level_b;
        size_t group;
        double effect;
    };

    static constexpr size_t groups = 6;

    double normal() { return std::sqrt(-2 * std::log(1 - rng_.unit())) * std::cos(2 * std::numbers::pi * rng_.unit()); }
    double exponential() { return -size_.effect * std::log(1 - rng_.unit()); }
    // Log time: positive is slower.
    double random_effect() { return rng_.chance(size_.helpful) ? -exponential() : exponential(); }
    int levels(size_t axis) const { return static_cast<int>(made_[axis]->values().size()); }

    void make_knobs() {
        const char* families[] = {"kernel", "layout", "fusion", "thread", "format", "memory", "rewrite"};
        std::vector<const KnobBase*> list;
        for (size_t i = 0; i < size_.knobs; ++i) {
            const size_t levels = rng_.chance(0.85) ? 2 : 3 + rng_.below(6);
            made_.push_back(std::make_unique<MadeKnob>("k" + std::to_string(100 + i), families[rng_.below(7)], levels));
            list.push_back(made_.back().get());
        }
        registry_ = Registry<KnobBase>(list);
        std::vector<size_t> order(size_.knobs);
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        rng_.shuffle(std::span(order));
        active_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size_.active));
        std::sort(active_.begin(), active_.end());
    }

    void make_effects() {
        for (double& weight : weights_) weight = 0.2 + rng_.unit();
        effects_.resize(size_.knobs);
        group_of_.resize(size_.knobs);
        for (const size_t axis : active_) {
            group_of_[axis] = rng_.below(groups);
            effects_[axis].push_back(0);
            for (int level = 1; level < levels(axis); ++level) effects_[axis].push_back(groups / 2.0 * random_effect());
        }
        const auto random_active = [&] { return active_[rng_.below(active_.size())]; };
        const auto random_level = [&](size_t axis) {
            return 1 + static_cast<int>(rng_.below(static_cast<uint64_t>(levels(axis) - 1)));
        };
        const auto random_pair = [&] {
            const size_t a = random_active(), b = random_active();
            return Pair{a, b, random_level(a), random_level(b), group_of_[a], groups / 2.0 * random_effect()};
        };
        for (size_t i = 0; i < size_.active; ++i) pairs_.push_back(random_pair());
        for (int i = 0; i < 3 && size_.failures; ++i) forbidden_.push_back(random_pair());
        for (int i = 0; i < 2 && size_.failures; ++i) inaccurate_.push_back(random_pair());
        while (failing_share() < size_.infeasible) forbidden_.push_back(random_pair());
    }

    // Of random points.
    double failing_share() {
        constexpr int points = 400;
        int failing = 0;
        for (int i = 0; i < points; ++i) {
            std::vector<int> point;
            for (size_t axis = 0; axis < size_.knobs; ++axis)
                point.push_back(static_cast<int>(rng_.below(static_cast<uint64_t>(levels(axis)))));
            failing += fate(point) == Fate::failed;
        }
        return static_cast<double>(failing) / points;
    }

    std::vector<int> levels_of(const Route& route) const {
        std::vector<int> levels;
        for (const auto& knob : made_) levels.push_back(route.index(*knob));
        return levels;
    }

    static bool holds(const Pair& pair, const std::vector<int>& levels) {
        return pair.a != pair.b && levels[pair.a] == pair.level_a && levels[pair.b] == pair.level_b;
    }

    Fate fate(const std::vector<int>& levels) const {
        for (const Pair& pair : forbidden_)
            if (holds(pair, levels)) return Fate::failed;
        for (const Pair& pair : inaccurate_)
            if (levels[pair.a] == pair.level_a) return Fate::wrong;
        return Fate::built;
    }

    double log_speedup(const std::vector<int>& levels) const {
        double group_time[groups] = {};
        for (const size_t axis : active_)
            group_time[group_of_[axis]] += effects_[axis][static_cast<size_t>(levels[axis])];
        for (const Pair& pair : pairs_)
            if (holds(pair, levels)) group_time[pair.group] += pair.effect;
        double time = 0, start = 0;
        for (size_t group = 0; group < groups; ++group) {
            time += weights_[group] * std::exp(group_time[group]);
            start += weights_[group];
        }
        return std::log(start / time);
    }

    // Coordinate ascent over the active knobs from many starts.
    double find_best() {
        double best = 0;
        for (int restart = 0; restart < 60; ++restart) {
            std::vector<int> point(size_.knobs, 0);
            for (const size_t axis : active_)
                if (restart > 0) point[axis] = static_cast<int>(rng_.below(static_cast<uint64_t>(levels(axis))));
            double here = fate(point) == Fate::built ? log_speedup(point) : -HUGE_VAL;
            for (bool better = true; better;) {
                better = false;
                for (const size_t axis : active_)
                    for (int level = 0; level < levels(axis); ++level) {
                        const int old = std::exchange(point[axis], level);
                        const double there = fate(point) == Fate::built ? log_speedup(point) : -HUGE_VAL;
                        if (there > here)
                            here = there, better = true;
                        else
                            point[axis] = old;
                    }
            }
            best = std::max(best, here);
        }
        return best;
    }

    LandscapeSize size_;
    Rng rng_;
    std::vector<std::unique_ptr<MadeKnob>> made_;
    Registry<KnobBase> registry_;
    std::vector<size_t> active_;
    double weights_[groups] = {};
    std::vector<std::vector<double>> effects_;
    std::vector<size_t> group_of_;
    std::vector<Pair> pairs_, forbidden_, inaccurate_;
    std::map<std::string, double> measured_;
    double best_ = 0;
};

}  // namespace headway
