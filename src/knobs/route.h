// A route: a full assignment of knobs, written as its differences from the default. Immutable once parsed; has a
// canonical text (defaults dropped, sorted) and a hash. Grammar, one setting per comma or line, `#` starts a comment:
//     conv.algorithm=winograd4,fuse_pointwise.max_group=4,conv.algorithm@/backbone/*=direct
// The part behind `@` is an origin name or a glob over origin names; names with special characters stand in "quotes"
// with \", \\ and \xNN inside. A setting of the default value is dropped for the whole graph and kept for a site, where
// it may shield the site from a glob or from the graph-wide value.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "knobs/knob.h"

namespace headway {

class Route {
public:
    Route() = default;  // the default route

    // UserError for an unknown knob or value (with the nearest name), for a site on a graph-wide knob, and for a
    // setting given twice with different values.
    static Route parse(std::string_view text, const Registry<KnobBase>& knobs);

    std::string text() const;  // canonical; parse(text()) gives an equal route
    Hash hash() const { return hash_text(text()); }
    bool operator==(const Route&) const = default;

    // This route with one more setting; the same checks as parse. An empty site means the whole graph.
    Route with(const KnobBase& knob, std::string_view value, std::string_view site = "") const;

    // Graph-wide value of a knob.
    template <class T>
    T get(const Knob<T>& knob) const {
        return knob.at(index(knob));
    }
    // Value for a site that carries these origin names. An exact name beats a glob, a glob beats the graph-wide value.
    // For a node with several origins the first origin is the anchor and decides.
    template <class T>
    T get(const Knob<T>& knob, std::span<const std::string> origins) const {
        return knob.at(index(knob, origins));
    }

    int index(const KnobBase& knob) const;
    int index(const KnobBase& knob, std::span<const std::string> origins) const;

    // UserError when a site setting matches none of the names, or when two globs set one name differently.
    void check_sites(std::span<const std::string> all_names) const;
    bool has_sites() const;

    struct Setting {
        std::string knob, site, value;  // site "" = whole graph
        auto operator<=>(const Setting&) const = default;
    };
    std::vector<Setting> settings() const;  // sorted, defaults dropped

private:
    // knob -> site -> value word
    std::map<std::string, std::map<std::string, std::string>, std::less<>> values_;
};

// A space of routes: knobs with several values, `conv.algorithm=[direct|winograd2|winograd4]`; a plain setting fixes a
// knob. Knobs not named stay at their default.
struct RouteSet {
    struct Axis {
        const KnobBase* knob;
        std::string site;
        std::vector<std::string> values;  // in the order written
    };
    std::vector<Axis> axes;

    static RouteSet parse(std::string_view text, const Registry<KnobBase>& knobs);
    // Every graph-wide value of every knob of the registry.
    static RouteSet all(const Registry<KnobBase>& knobs);
};

}  // namespace headway
