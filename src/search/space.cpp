#include "search/space.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace headway {

Hash hash_of(const Point& point) { return hash_bytes(point.data(), point.size() * sizeof(int)); }

Space::Space(RouteSet set) : set_(std::move(set)) {
    std::map<std::pair<const KnobBase*, std::string>, size_t> seen;
    std::map<const KnobBase*, int> sites;
    for (size_t axis = 0; axis < axes(); ++axis) {
        const RouteSet::Axis& entry = set_.axes[axis];
        HEADWAY_CHECK(entry.knob != nullptr && !entry.values.empty());
        if (!seen.emplace(std::pair(entry.knob, entry.site), axis).second)
            throw UserError("the space names " + std::string(entry.knob->name()) +
                            " twice; write one set with all values");
        sites[entry.knob] += !entry.site.empty();
        auto at = std::find(entry.values.begin(), entry.values.end(), unset);
        if (at == entry.values.end())
            at = std::find(entry.values.begin(), entry.values.end(), entry.knob->default_value());
        start_.push_back(at == entry.values.end() ? 0 : static_cast<int>(at - entry.values.begin()));
    }
    for (const RouteSet::Axis& entry : set_.axes) {
        const auto whole = seen.find({entry.knob, ""});
        whole_.push_back(whole == seen.end() ? -1 : static_cast<int>(whole->second));
        only_site_.push_back(sites[entry.knob] == 1);
        may_be_unset_.push_back(std::ranges::find(entry.values, unset) != entry.values.end());
    }
}

// A site says nothing when it repeats the graph-wide value and no other site setting could cover it.
bool Space::is_plain(size_t axis, const Point& point) const {
    const RouteSet::Axis& entry = set_.axes[axis];
    const std::string& value = entry.values[static_cast<size_t>(point[axis])];
    if (value == unset) return true;
    if (may_be_unset_[axis]) return false;
    if (entry.site.empty()) return value == entry.knob->default_value();
    if (!only_site_[axis]) return false;
    if (whole_[axis] < 0) return value == entry.knob->default_value();
    const auto whole = static_cast<size_t>(whole_[axis]);
    return value == set_.axes[whole].values[static_cast<size_t>(point[whole])];
}

Route Space::route(const Point& point) const {
    HEADWAY_CHECK(point.size() == axes());
    Route route;
    for (size_t axis = 0; axis < axes(); ++axis)
        if (!is_plain(axis, point))
            route = route.with(*set_.axes[axis].knob, set_.axes[axis].values.at(static_cast<size_t>(point[axis])),
                               set_.axes[axis].site);
    return route;
}

std::optional<Point> Space::point(const Route& route) const {
    std::map<std::pair<std::string_view, std::string_view>, std::string_view> said;
    const std::vector<Route::Setting> settings = route.settings();
    for (const Route::Setting& setting : settings) said[{setting.knob, setting.site}] = setting.value;
    Point point(axes());
    size_t used = 0;
    for (size_t axis = 0; axis < axes(); ++axis) {
        const RouteSet::Axis& entry = set_.axes[axis];
        std::string_view value = may_be_unset_[axis] ? unset : std::string_view(entry.knob->default_value());
        if (const auto whole = said.find({entry.knob->name(), ""}); whole != said.end() && !may_be_unset_[axis])
            value = whole->second;
        if (const auto own = said.find({entry.knob->name(), entry.site}); own != said.end()) {
            value = own->second;
            ++used;
        }
        const auto at = std::find(entry.values.begin(), entry.values.end(), value);
        if (at == entry.values.end()) return std::nullopt;
        point[axis] = static_cast<int>(at - entry.values.begin());
    }
    if (used < settings.size()) return std::nullopt;
    return point;
}

std::string Space::text(size_t axis, int value) const {
    const RouteSet::Axis& entry = set_.axes[axis];
    const std::string& word = entry.values[static_cast<size_t>(value)];
    return std::string(entry.knob->name()) + (entry.site.empty() ? "" : "@" + entry.site) + "=" +
           (word == unset ? "(as the graph)" : word);
}

}  // namespace headway
