// What the history teaches, whichever strategy asks: points that were tried, values that change nothing, values that
// fail, effects of single changes, the leader.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "search/space.h"
#include "search/strategy.h"

namespace headway {

// A trial whose route lies in the space.
struct Row {
    Point point;
    Fate fate = Fate::built;
    Hash fingerprint;  // zero without an engine
    std::optional<double> log_speedup;
    double standard_error = 0;
    const std::vector<SiteTime>* sites = nullptr;  // step times, where they were looked at; the history owns them
    // The speed-up that is believed: the measured one drawn towards none, the more the less is known.
    double believed() const;
};

// One value other than the start's.
struct Change {
    size_t axis = 0;
    int value = 0;
    auto operator<=>(const Change&) const = default;
};

class Lessons {
public:
    Lessons(const Space& space, std::span<const Observation> history);

    const Space& space() const { return space_; }
    const std::vector<Row>& rows() const { return rows_; }
    size_t trials() const { return trials_; }

    bool tried(const Point& point) const { return tried_.contains(hash_of(point)); }
    // The point with values that are known to be alike replaced by one of them, the start's if possible. Two routes
    // gave one fingerprint: all that they differ in is alike, until a pair of engines contradicts.
    Point simplified(Point point) const;
    // Whether some tried point gave the engine that this one would give, as far as is known.
    bool tried_alike(const Point& point) const { return tried_alike_.contains(hash_of(simplified(point))); }
    bool alike_to_start(size_t axis, int value) const {
        return class_of_[axis][static_cast<size_t>(value)] == space_.start()[axis];
    }
    // Failed, was refused or was wrong, and never did well.
    bool avoided(size_t axis, int value) const { return avoided_.contains({axis, value}); }

    // The trial of the start with this one change, if there was one.
    const Row* single(const Change& change) const;
    // The fastest acceptable engine measured so far by what is believed; null when none was measured.
    const Row* leader() const;
    // The leader's point, or the start.
    const Point& best_point() const;

private:
    void read(std::span<const Observation> history);
    void learn_alike();
    bool find_contradiction();
    void unite(const Point& a, const Point& b);
    void learn_avoided();

    const Space& space_;
    std::vector<Row> rows_;
    size_t trials_ = 0;
    std::set<Hash> tried_, tried_alike_;
    std::vector<std::vector<int>> class_of_;  // per axis and value: the value that stands for its class
    std::vector<bool> contradicted_;          // per axis
    std::set<Change> avoided_;
    std::map<Change, size_t> singles_;  // row numbers
};

// The changes that a point makes to the start.
std::vector<Change> changes_of(const Space& space, const Point& point);

}  // namespace headway
