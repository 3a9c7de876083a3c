#include <numeric>

#include "search/phase.h"

namespace headway {
namespace {

// Draws in a row that give nothing new until the space counts as used up.
constexpr int most_futile_draws = 200;
// Values that changed nothing at the start are still drawn: they may matter elsewhere.
constexpr double weight_of_inert = 0.1;
constexpr double chance_of_one_more = 0.6;
constexpr double chance_of_leader = 0.5;

class RandomRestarts final : public Phase {
public:
    void fill(Batch& batch) const override {
        const std::vector<Change> changes = allowed_changes(batch);
        if (changes.empty()) return;
        const std::vector<double> weights = weights_of(batch, changes);
        for (int futile = 0; !batch.full() && futile < most_futile_draws;) {
            Point point = batch.rng().chance(chance_of_leader) ? batch.lessons().best_point() : batch.space().start();
            do {
                const Change& change = draw(batch, changes, weights);
                point[change.axis] = change.value;
            } while (batch.rng().chance(chance_of_one_more));
            futile = batch.add(point, "random") ? 0 : futile + 1;
        }
    }

private:
    // To every value but those that fail; the start's too, so that the leader can lose a change.
    static std::vector<Change> allowed_changes(const Batch& batch) {
        const Space& space = batch.space();
        std::vector<Change> changes;
        for (size_t axis = 0; axis < space.axes(); ++axis)
            for (int value = 0; space.values(axis) > 1 && value < space.values(axis); ++value)
                if (!batch.lessons().avoided(axis, value)) changes.push_back({axis, value});
        return changes;
    }

    static std::vector<double> weights_of(const Batch& batch, const std::vector<Change>& changes) {
        std::vector<double> weights;
        for (const Change& change : changes) {
            const bool start = change.value == batch.space().start()[change.axis];
            const bool inert = !start && batch.lessons().alike_to_start(change.axis, change.value);
            weights.push_back(inert   ? weight_of_inert
                              : start ? 0.5
                                      : promise(batch.space(), change.axis, change.value));
        }
        return weights;
    }

    static const Change& draw(Batch& batch, const std::vector<Change>& changes, const std::vector<double>& weights) {
        double left = batch.rng().unit() * std::accumulate(weights.begin(), weights.end(), 0.0);
        size_t at = 0;
        while (at + 1 < weights.size() && left >= weights[at]) left -= weights[at++];
        return changes[at];
    }
};

}  // namespace

std::unique_ptr<Phase> random_restarts() { return std::make_unique<RandomRestarts>(); }

}  // namespace headway
