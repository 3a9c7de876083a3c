// The text of routes as a list of items, before any knob is known: comments, separators, and quoted site names. Route
// and RouteSet give the items their meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "knobs/knob.h"

namespace headway::route_grammar {

// `knob=value` or `knob@site=value`; `value` is trimmed text and may still be a set `[a|b]`.
struct Item {
    std::string knob, site, value;
    std::string text() const;
};

// UserError naming the item for a missing `=`, an empty part, or an unterminated quote.
std::vector<Item> parse(std::string_view text);

// A site as it stands behind `@`: bare, or in quotes where it has special characters.
std::string quoted_site(std::string_view site);

// UserError with the nearest name.
const KnobBase& find_knob(const Item& item, const Registry<KnobBase>& knobs);
// UserError unless the knob takes the value, and takes a site if there is one.
void check(const KnobBase& knob, std::string_view value, std::string_view site);

}  // namespace headway::route_grammar
