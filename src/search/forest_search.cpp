#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "search/forest.h"
#include "search/phase.h"

namespace headway {
namespace {

// The initial design: a fifth of the builds, but not more than is needed to start a forest.
constexpr double share_of_design = 0.2;
constexpr double least_design = 10;
constexpr double most_design = 20;
constexpr double sparse_changes = 5;  // expected in a sparse point of the design
constexpr size_t parents = 8;
constexpr int children_per_parent = 60;
constexpr double share_of_random = 0.15;
constexpr double least_weight = 0.25;  // of an axis that explained nothing so far, against 1.25 of the best
constexpr double doubt_of_inert = 0.03;
constexpr double spread_floor = 0.002;

double expected_improvement(const Prediction& prediction, double best) {
    const double spread = std::max(prediction.spread, spread_floor);
    const double z = (prediction.mean - best) / spread;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
    return spread * (z * below + density);
}

struct Candidate {
    Point point;
    double worth = 0;
};

class ForestSearch final : public Phase {
public:
    void fill(Batch& batch) const override {
        const double tried = static_cast<double>(batch.lessons().trials());
        const double all = tried + batch.affordable();
        const double design = std::clamp(share_of_design * all, least_design, most_design);
        if (tried < design)
            add_design(batch);
        else
            add_guided(batch);
        // what is left when the model has nothing new to say
        random_->fill(batch);
    }

private:
    static int random_value(Batch& batch, size_t axis) {
        const Space& space = batch.space();
        const int value = static_cast<int>(batch.rng().below(static_cast<uint64_t>(space.values(axis))));
        return batch.lessons().avoided(axis, value) ? space.start()[axis] : value;
    }

    // Every second point is dense: all knobs at once, so that each value is seen beside many others. Knobs that may
    // cost accuracy change in sparse points only, else no dense point would pass the gate.
    static Point design_point(Batch& batch, bool dense) {
        const Space& space = batch.space();
        Point point = space.start();
        const double chance = std::min(1.0, sparse_changes / static_cast<double>(std::max<size_t>(1, space.axes())));
        for (size_t axis = 0; axis < space.axes(); ++axis) {
            const bool risky = space.axis(axis).knob->numerics() == Numerics::reduced;
            if (dense ? !risky : batch.rng().chance(2 * chance)) point[axis] = random_value(batch, axis);
        }
        return point;
    }

    static void add_design(Batch& batch) {
        for (int futile = 0; !batch.full() && futile < 50; ++futile)
            batch.add(design_point(batch, batch.rng().coin()), "initial design");
    }

    struct Data {
        std::vector<Point> measured, all;
        std::vector<double> speedups, good;
    };
    static Data data_of(const Lessons& lessons) {
        Data data;
        for (const Row& row : lessons.rows()) {
            data.all.push_back(lessons.simplified(row.point));
            data.good.push_back(row.fate == Fate::built ? 1 : 0);
            if (row.fate != Fate::built || !row.log_speedup) continue;
            data.measured.push_back(data.all.back());
            data.speedups.push_back(*row.log_speedup);
        }
        return data;
    }

    static void add_guided(Batch& batch) {
        const Lessons& lessons = batch.lessons();
        const Data data = data_of(lessons);
        if (data.measured.empty()) return add_design(batch);
        const Forest speed(batch.space(), data.measured, data.speedups, batch.rng().next());
        const Forest good(batch.space(), data.all, data.good, batch.rng().next());
        const double best = std::max(0.0, lessons.leader()->believed());
        std::vector<Candidate> candidates = candidates_of(batch, speed.importance());
        for (Candidate& candidate : candidates)
            candidate.worth =
                expected_improvement(speed.predict(candidate.point), best) * good.predict(candidate.point).mean;
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
        for (const Candidate& candidate : candidates) batch.add(candidate.point, "forest");
    }

    static std::vector<Candidate> candidates_of(Batch& batch, const std::vector<double>& importance) {
        std::vector<double> weights;
        const double most = *std::max_element(importance.begin(), importance.end());
        for (size_t axis = 0; axis < importance.size(); ++axis)
            weights.push_back(batch.space().values(axis) < 2 ? 0
                                                             : least_weight + (most > 0 ? importance[axis] / most : 0));
        std::vector<Candidate> candidates;
        for (const Point& parent : best_points(batch.lessons()))
            for (int i = 0; i < children_per_parent; ++i) candidates.push_back({child(batch, parent, weights), 0});
        const auto random = static_cast<size_t>(share_of_random * static_cast<double>(candidates.size()));
        for (size_t i = 0; i < random; ++i) candidates.push_back({design_point(batch, batch.rng().coin()), 0});
        return candidates;
    }

    static std::vector<Point> best_points(const Lessons& lessons) {
        std::vector<const Row*> rows;
        for (const Row& row : lessons.rows())
            if (row.fate == Fate::built && row.log_speedup) rows.push_back(&row);
        std::stable_sort(rows.begin(), rows.end(),
                         [](const Row* a, const Row* b) { return a->believed() > b->believed(); });
        std::vector<Point> points;
        for (size_t i = 0; i < std::min(parents, rows.size()); ++i)
            points.push_back(lessons.simplified(rows[i]->point));
        return points;
    }

    static Point child(Batch& batch, Point point, const std::vector<double>& weights) {
        const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
        const int changes = batch.rng().coin() ? 1 : 2;
        for (int i = 0; i < changes; ++i) {
            double left = batch.rng().unit() * all;
            size_t axis = 0;
            while (axis + 1 < weights.size() && left >= weights[axis]) left -= weights[axis++];
            const int value = random_value(batch, axis);
            if (!batch.lessons().alike_to_start(axis, value) || batch.rng().chance(doubt_of_inert))
                point[axis] = value;
            else
                point[axis] = batch.space().start()[axis];
        }
        return point;
    }

    std::unique_ptr<Phase> random_ = random_restarts();
};

}  // namespace

std::unique_ptr<Phase> forest_search() { return std::make_unique<ForestSearch>(); }

}  // namespace headway
