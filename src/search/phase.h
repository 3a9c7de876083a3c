// A phase proposes points from lessons; strategies are phases, or phases one after the other.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "search/lessons.h"

namespace headway {

// Proposals on their way out: refuses what was tried, what is proposed already, and nearly always what would give an
// engine that is known.
class Batch {
public:
    // Random numbers depend on the seed and the length of the history only.
    Batch(const Lessons& lessons, const Ask& ask, uint64_t seed);

    const Lessons& lessons() const { return lessons_; }
    const Space& space() const { return lessons_.space(); }
    Rng& rng() { return rng_; }
    // Builds that the budget still allows beside what this batch holds.
    int affordable() const { return affordable_ - static_cast<int>(proposals_.size()); }
    bool full() const { return proposals_.size() >= most_; }
    bool empty() const { return proposals_.empty(); }

    bool add(const Point& point, std::string_view origin);
    std::vector<Proposal> take() { return std::move(proposals_); }

private:
    const Lessons& lessons_;
    Rng rng_;
    size_t most_;
    int affordable_;
    bool may_repeat_;  // one point that should give a known engine
    std::vector<Proposal> proposals_;
    std::set<Hash> proposed_, proposed_alike_;
};

class Phase {
public:
    virtual ~Phase() = default;
    // Adds to the batch until it is full or the phase has nothing more to say.
    virtual void fill(Batch& batch) const = 0;
};

// Each value of each knob alone, the families and values that promise most first.
std::unique_ptr<Phase> one_at_a_time();
// What helped alone, together; then small changes of the leader.
std::unique_ptr<Phase> combinations();
// Few random changes of the start and of the leader.
std::unique_ptr<Phase> random_restarts();
// At each site the value that saved most time there, all together and in part (see site_savings.h).
std::unique_ptr<Phase> sites();
// An initial design, then what a random forest expects most of.
std::unique_ptr<Phase> forest_search();
// The first four, each with its share of the builds.
std::unique_ptr<Phase> staged();

// How much a value promises before anything is known, by the family of its knob and its rank among the knob's values.
double promise(const Space& space, size_t axis, int value);

}  // namespace headway
