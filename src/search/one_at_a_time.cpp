#include <algorithm>
#include <map>

#include "search/phase.h"

namespace headway {
namespace {

struct Candidate {
    Change change;
    double worth = 0;
};

class OneAtATime final : public Phase {
public:
    void fill(Batch& batch) const override {
        for (const Candidate& candidate : candidates(batch)) {
            if (batch.full()) return;
            Point point = batch.space().start();
            point[candidate.change.axis] = candidate.change.value;
            batch.add(point, "one at a time");
        }
    }

private:
    static std::vector<Candidate> candidates(Batch& batch) {
        const Space& space = batch.space();
        const Lessons& lessons = batch.lessons();
        std::vector<Candidate> candidates;
        const auto liveliness = live_share(lessons);
        for (size_t axis = 0; axis < space.axes(); ++axis)
            for (int value = 0; value < space.values(axis); ++value) {
                if (value == space.start()[axis] || lessons.avoided(axis, value)) continue;
                candidates.push_back({{axis, value}, promise(space, axis, value) * liveliness.at(space.family(axis))});
            }
        // equal promises in an order of their own, so that no name is always last when the budget ends
        batch.rng().shuffle(std::span(candidates));
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
        return candidates;
    }

    // Share of a family's single changes that gave another engine, with two imagined ones to begin with: a model
    // without attention makes a whole family inert.
    static std::map<std::string_view, double> live_share(const Lessons& lessons) {
        const Space& space = lessons.space();
        std::map<std::string_view, std::pair<double, double>> live_of_tried;
        for (size_t axis = 0; axis < space.axes(); ++axis) {
            auto& [live, tried] = live_of_tried.try_emplace(space.family(axis), 2, 2).first->second;
            for (int value = 0; value < space.values(axis); ++value) {
                if (value == space.start()[axis] || lessons.single({axis, value}) == nullptr) continue;
                live += !lessons.alike_to_start(axis, value);
                tried += 1;
            }
        }
        std::map<std::string_view, double> share;
        for (const auto& [family, counts] : live_of_tried) share[family] = counts.first / counts.second;
        return share;
    }
};

}  // namespace

std::unique_ptr<Phase> one_at_a_time() { return std::make_unique<OneAtATime>(); }

}  // namespace headway
