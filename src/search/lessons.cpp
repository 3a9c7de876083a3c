#include "search/lessons.h"

#include <algorithm>

namespace headway {
namespace {

// Spread of the effects that are worth finding: between the noise of a visit and what a kernel can give.
constexpr double usual_effect = 0.03;
// A failure is blamed in equal parts on the changes that never did well; this much blame condemns a value.
constexpr double condemning_blame = 1 - 1e-9;

}  // namespace

double Row::believed() const {
    if (!log_speedup) return 0;
    const double prior = usual_effect * usual_effect;
    return *log_speedup * prior / (prior + standard_error * standard_error);
}

std::vector<Change> changes_of(const Space& space, const Point& point) {
    std::vector<Change> changes;
    for (size_t axis = 0; axis < space.axes(); ++axis)
        if (point[axis] != space.start()[axis]) changes.push_back({axis, point[axis]});
    return changes;
}

Lessons::Lessons(const Space& space, std::span<const Observation> history) : space_(space), trials_(history.size()) {
    read(history);
    contradicted_.assign(space.axes(), false);
    do learn_alike();
    while (find_contradiction());
    for (const Row& row : rows_) tried_alike_.insert(hash_of(simplified(row.point)));
    learn_avoided();
}

void Lessons::read(std::span<const Observation> history) {
    for (const Observation& seen : history) {
        std::optional<Point> point = space_.point(seen.route);
        if (!point) continue;
        tried_.insert(hash_of(*point));
        const std::vector<Change> changes = changes_of(space_, *point);
        if (changes.size() == 1) singles_[changes.front()] = rows_.size();
        rows_.push_back({std::move(*point), seen.fate, seen.fingerprint.empty() ? Hash{} : hash_text(seen.fingerprint),
                         seen.log_speedup, seen.standard_error, seen.sites.empty() ? nullptr : &seen.sites});
    }
}

void Lessons::learn_alike() {
    class_of_.clear();
    for (size_t axis = 0; axis < space_.axes(); ++axis) {
        class_of_.emplace_back();
        for (int value = 0; value < space_.values(axis); ++value) class_of_.back().push_back(value);
    }
    std::map<Hash, const Row*> first;
    for (const Row& row : rows_) {
        if (row.fingerprint == Hash{}) continue;
        const auto [at, fresh] = first.emplace(row.fingerprint, &row);
        if (!fresh) unite(at->second->point, row.point);
    }
}

void Lessons::unite(const Point& a, const Point& b) {
    for (size_t axis = 0; axis < space_.axes(); ++axis) {
        std::vector<int>& classes = class_of_[axis];
        const int left = classes[static_cast<size_t>(a[axis])], right = classes[static_cast<size_t>(b[axis])];
        if (left == right || contradicted_[axis]) continue;
        // the start's value stands for its class, else the first one
        const int start = space_.start()[axis];
        const int kept = left == start || right == start ? start : std::min(left, right);
        for (int& value : classes)
            if (value == left || value == right) value = kept;
    }
}

// Two engines that should have been one: what their points differ in matters after all.
bool Lessons::find_contradiction() {
    bool found = false;
    std::map<Hash, const Row*> first;
    for (const Row& row : rows_) {
        if (row.fingerprint == Hash{}) continue;
        const auto [at, fresh] = first.emplace(hash_of(simplified(row.point)), &row);
        if (fresh || at->second->fingerprint == row.fingerprint) continue;
        for (size_t axis = 0; axis < space_.axes(); ++axis) {
            if (at->second->point[axis] == row.point[axis] || contradicted_[axis]) continue;
            contradicted_[axis] = true;
            found = true;
        }
    }
    return found;
}

Point Lessons::simplified(Point point) const {
    for (size_t axis = 0; axis < point.size(); ++axis) point[axis] = class_of_[axis][static_cast<size_t>(point[axis])];
    return point;
}

void Lessons::learn_avoided() {
    std::set<Change> successes;
    for (const Row& row : rows_)
        if (row.fate == Fate::built)
            for (const Change& change : changes_of(space_, row.point)) successes.insert(change);
    std::map<Change, double> blame;
    for (const Row& row : rows_) {
        if (row.fate == Fate::built) continue;
        std::vector<Change> suspects = changes_of(space_, row.point);
        std::erase_if(suspects, [&](const Change& change) { return successes.contains(change); });
        for (const Change& change : suspects) blame[change] += 1.0 / static_cast<double>(suspects.size());
    }
    for (const auto& [change, share] : blame)
        if (share >= condemning_blame) avoided_.insert(change);
}

const Row* Lessons::single(const Change& change) const {
    const auto at = singles_.find(change);
    return at == singles_.end() ? nullptr : &rows_[at->second];
}

const Row* Lessons::leader() const {
    const Row* best = nullptr;
    for (const Row& row : rows_)
        if (row.fate == Fate::built && row.log_speedup && (best == nullptr || row.believed() > best->believed()))
            best = &row;
    return best;
}

const Point& Lessons::best_point() const {
    const Row* row = leader();
    return row != nullptr ? row->point : space_.start();
}

}  // namespace headway
