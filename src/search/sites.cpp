#include <set>

#include "search/phase.h"
#include "search/site_savings.h"

namespace headway {
namespace {

// Step times are read in engines whose neighbours differ too, so the sum of all savings is rarely had; routes of the
// surest ones alone are tried beside it.
constexpr double shares_of_savings[] = {1.0, 0.5, 0.25};

class Sites final : public Phase {
public:
    void fill(Batch& batch) const override {
        const std::vector<SiteSaving> savings = site_savings(batch.lessons());
        if (savings.empty()) return;
        for (const double share : shares_of_savings) {
            const std::vector<SiteSaving> part(
                savings.begin(), savings.begin() + static_cast<std::ptrdiff_t>(
                                                       std::max(1.0, share * static_cast<double>(savings.size()))));
            batch.add(with(batch, batch.space().start(), part, nullptr), "best value at each site");
            batch.add(with(batch, batch.lessons().best_point(), part, nullptr), "leader and best value at each site");
        }
        std::set<const KnobBase*> knobs;
        for (const SiteSaving& saving : savings)
            if (knobs.insert(saving.knob).second)
                batch.add(with(batch, batch.space().start(), savings, saving.knob),
                          "best value of one knob at each site");
    }

private:
    // The point with the savings' values, of one knob or of all.
    static Point with(const Batch& batch, Point point, const std::vector<SiteSaving>& savings, const KnobBase* only) {
        const Space& space = batch.space();
        for (const SiteSaving& saving : savings) {
            if (only != nullptr && saving.knob != only) continue;
            for (size_t axis = 0; axis < space.axes(); ++axis) {
                const RouteSet::Axis& entry = space.axis(axis);
                if (entry.knob != saving.knob || entry.site != saving.site) continue;
                const auto at = std::ranges::find(entry.values, saving.value);
                if (at != entry.values.end()) point[axis] = static_cast<int>(at - entry.values.begin());
            }
        }
        return point;
    }
};

}  // namespace

std::unique_ptr<Phase> sites() { return std::make_unique<Sites>(); }

}  // namespace headway
