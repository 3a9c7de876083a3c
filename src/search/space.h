// A space of routes as small integers: one index per axis. Strategies think in points of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "knobs/route.h"

namespace headway {

// Index into the axis's values, per axis.
using Point = std::vector<int>;

Hash hash_of(const Point& point);

// A site axis may hold this beside values of its knob: nothing is said at the site, which then follows the graph. It is
// the start of such an axis.
inline constexpr std::string_view unset = "";

class Space {
public:
    // UserError when one knob and site stands twice in it.
    explicit Space(RouteSet set);

    size_t axes() const { return set_.axes.size(); }
    int values(size_t axis) const { return static_cast<int>(set_.axes[axis].values.size()); }
    const RouteSet::Axis& axis(size_t axis) const { return set_.axes[axis]; }
    std::string_view family(size_t axis) const { return set_.axes[axis].knob->family(); }

    // Every knob at its default, or at the first of its values where the space leaves the default out.
    const Point& start() const { return start_; }
    Route route(const Point& point) const;
    // None when the route says something that the space does not hold.
    std::optional<Point> point(const Route& route) const;
    // "knob=value" of one axis.
    std::string text(size_t axis, int value) const;

private:
    bool is_plain(size_t axis, const Point& point) const;

    RouteSet set_;
    Point start_;
    std::vector<int> whole_;       // per axis: the graph-wide axis of the same knob, or -1
    std::vector<bool> only_site_;  // per axis: no other site of its knob is in the space
    std::vector<bool> may_be_unset_;
};

}  // namespace headway
