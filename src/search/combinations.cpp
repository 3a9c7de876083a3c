#include <algorithm>

#include "search/phase.h"

namespace headway {
namespace {

// A single change helped when what is believed of it is above this and above its standard error.
constexpr double least_help = 0.002;
constexpr size_t most_paired = 6;

struct Helper {
    Change change;
    double effect = 0;
};

// The best helping value of each axis, most helpful first.
std::vector<Helper> helpers(const Lessons& lessons) {
    std::vector<Helper> helpers;
    const Space& space = lessons.space();
    for (size_t axis = 0; axis < space.axes(); ++axis) {
        Helper best;
        for (int value = 0; value < space.values(axis); ++value) {
            const Row* row = lessons.single({axis, value});
            if (row == nullptr || row->fate != Fate::built || !row->log_speedup) continue;
            if (row->believed() > best.effect) best = {{axis, value}, row->believed()};
        }
        const Row* row = best.effect > least_help ? lessons.single(best.change) : nullptr;
        if (row != nullptr && best.effect > row->standard_error) helpers.push_back(best);
    }
    std::stable_sort(helpers.begin(), helpers.end(),
                     [](const Helper& a, const Helper& b) { return a.effect > b.effect; });
    return helpers;
}

Point with_first(const Space& space, const std::vector<Helper>& helpers, size_t count) {
    Point point = space.start();
    for (size_t i = 0; i < count; ++i) point[helpers[i].change.axis] = helpers[i].change.value;
    return point;
}

class Combinations final : public Phase {
public:
    void fill(Batch& batch) const override {
        const std::vector<Helper> helping = helpers(batch.lessons());
        compose(batch, helping);
        pair(batch, helping);
        grow_leader(batch, helping);
        shrink_leader(batch);
    }

private:
    // All helpers together, then the first 2, 4, 8...: a conflict between two of them spoils the larger ones only.
    static void compose(Batch& batch, const std::vector<Helper>& helping) {
        if (helping.size() < 2) return;
        batch.add(with_first(batch.space(), helping, helping.size()), "combination");
        for (size_t count = 2; count < helping.size(); count *= 2)
            batch.add(with_first(batch.space(), helping, count), "combination");
    }

    static void pair(Batch& batch, const std::vector<Helper>& helping) {
        const size_t count = std::min(most_paired, helping.size());
        for (size_t b = 1; b < count; ++b)
            for (size_t a = 0; a < b; ++a) {
                Point point = batch.space().start();
                point[helping[a].change.axis] = helping[a].change.value;
                point[helping[b].change.axis] = helping[b].change.value;
                batch.add(point, "pair");
            }
    }

    static void grow_leader(Batch& batch, const std::vector<Helper>& helping) {
        for (const Helper& helper : helping) {
            Point point = batch.lessons().best_point();
            point[helper.change.axis] = helper.change.value;
            batch.add(point, "leader and one more");
        }
    }

    // Changes that do not pay only make the route longer.
    static void shrink_leader(Batch& batch) {
        const Point& leader = batch.lessons().best_point();
        for (const Change& change : changes_of(batch.space(), leader)) {
            Point point = leader;
            point[change.axis] = batch.space().start()[change.axis];
            batch.add(point, "leader without one");
        }
    }
};

}  // namespace

std::unique_ptr<Phase> combinations() { return std::make_unique<Combinations>(); }

}  // namespace headway
