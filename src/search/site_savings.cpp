#include "search/site_savings.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace headway {
namespace {

// A site's time must fall by this much, and by this share of the whole engine's: less is the noise of a profile.
constexpr double least_gain_of_site = 0.03;
constexpr double least_gain_of_engine = 0.0005;
constexpr size_t most_new_axes = 40;

using Key = std::pair<const KnobBase*, std::string>;

// The axis of the set for a knob and site; null when there is none.
RouteSet::Axis* find_axis(RouteSet& set, const KnobBase* knob, std::string_view site) {
    for (RouteSet::Axis& axis : set.axes)
        if (axis.knob == knob && axis.site == site) return &axis;
    return nullptr;
}

const KnobBase* knob_named(const RouteSet& set, std::string_view name) {
    for (const RouteSet::Axis& axis : set.axes)
        if (axis.knob->name() == name && axis.site.empty()) return axis.knob;
    return nullptr;
}

void add_value(RouteSet& set, const KnobBase* knob, const std::string& site, const std::string& value) {
    RouteSet::Axis* axis = find_axis(set, knob, site);
    if (axis == nullptr) {
        set.axes.push_back({knob, site, {std::string(unset)}});
        axis = &set.axes.back();
    }
    if (std::ranges::find(axis->values, value) == axis->values.end()) axis->values.push_back(value);
}

}  // namespace

std::vector<SiteSaving> site_savings(const Lessons& lessons) {
    const Space& space = lessons.space();
    std::map<Key, SiteSaving> best;
    for (size_t axis = 0; axis < space.axes(); ++axis) {
        const RouteSet::Axis& entry = space.axis(axis);
        if (entry.knob->scope() != Scope::site || !entry.site.empty()) continue;
        for (int value = 0; value < space.values(axis); ++value) {
            const Row* row = value == space.start()[axis] ? nullptr : lessons.single({axis, value});
            if (row == nullptr || row->fate != Fate::built || row->sites == nullptr) continue;
            double total = 0;
            for (const SiteTime& site : *row->sites) total += site.start_ns;
            for (const SiteTime& site : *row->sites) {
                const double saved = site.start_ns - site.ns;
                if (saved < least_gain_of_site * site.start_ns || saved < least_gain_of_engine * total) continue;
                SiteSaving& kept = best.try_emplace({entry.knob, site.site}).first->second;
                if (saved / total > kept.share)
                    kept = {entry.knob, site.site, entry.values[static_cast<size_t>(value)], saved / total};
            }
        }
    }
    std::vector<SiteSaving> savings;
    for (auto& [key, saving] : best) savings.push_back(std::move(saving));
    std::stable_sort(savings.begin(), savings.end(), [](const SiteSaving& a, const SiteSaving& b) {
        return std::tuple(-a.share, a.site, a.knob->name()) < std::tuple(-b.share, b.site, b.knob->name());
    });
    return savings;
}

RouteSet with_site_axes(const RouteSet& set, const std::vector<SiteSaving>& savings,
                        std::span<const Observation> history) {
    RouteSet extended = set;
    for (const Observation& seen : history)
        for (const Route::Setting& setting : seen.route.settings())
            if (const KnobBase* knob = knob_named(set, setting.knob); !setting.site.empty() && knob != nullptr)
                add_value(extended, knob, setting.site, setting.value);
    for (size_t i = 0; i < std::min(savings.size(), most_new_axes); ++i)
        add_value(extended, savings[i].knob, savings[i].site, savings[i].value);
    return extended;
}

}  // namespace headway
