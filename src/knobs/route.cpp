#include "knobs/route.h"

#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "knobs/route_grammar.h"

namespace headway {
namespace {

std::string setting_text(const std::string& knob, const std::string& site, const std::string& value) {
    return route_grammar::Item{knob, site, value}.text();
}

int known_index(const KnobBase& knob, std::string_view value) {
    const int index = knob.index_of(value);
    HEADWAY_CHECK(index >= 0);
    return index;
}

using Sites = std::map<std::string, std::string>;

// An exact setting settles a name, whatever globs match it.
void check_globs_agree(const std::string& knob, const Sites& sites, std::string_view name) {
    if (sites.contains(std::string(name))) return;
    const Sites::value_type* first = nullptr;
    for (const Sites::value_type& setting : sites) {
        if (!has_glob_characters(setting.first) || !glob_match(setting.first, name)) continue;
        if (first == nullptr)
            first = &setting;
        else if (first->second != setting.second)
            throw UserError("settings " + setting_text(knob, first->first, first->second) + " and " +
                            setting_text(knob, setting.first, setting.second) + " both match site \"" + escaped(name) +
                            "\"; set that name itself to say which one holds");
    }
}

}  // namespace

Route Route::parse(std::string_view text, const Registry<KnobBase>& knobs) {
    Route route;
    for (const route_grammar::Item& item : route_grammar::parse(text)) {
        const KnobBase& knob = route_grammar::find_knob(item, knobs);
        route_grammar::check(knob, item.value, item.site);
        const auto [at, fresh] = route.values_[item.knob].emplace(item.site, item.value);
        if (!fresh && at->second != item.value)
            throw UserError("route sets " + setting_text(item.knob, item.site, at->second) + " and " + item.text() +
                            "; keep one of them");
    }
    // only now, so that `k=default,k=other` is seen as the contradiction that it is
    for (auto at = route.values_.begin(); at != route.values_.end();) {
        const auto whole = at->second.find("");
        if (whole != at->second.end() && whole->second == knobs.find(at->first)->default_value())
            at->second.erase(whole);
        at = at->second.empty() ? route.values_.erase(at) : std::next(at);
    }
    return route;
}

std::string Route::text() const {
    std::string text;
    for (const Setting& setting : settings()) {
        if (!text.empty()) text += ',';
        text += setting_text(setting.knob, setting.site, setting.value);
    }
    return text;
}

Route Route::with(const KnobBase& knob, std::string_view value, std::string_view site) const {
    route_grammar::check(knob, value, site);
    Route route = *this;
    const auto sites = values_.find(knob.name());
    if (sites != values_.end()) {
        const auto old = sites->second.find(std::string(site));
        if (old != sites->second.end() && old->second != value)
            throw UserError("route already sets " + setting_text(sites->first, old->first, old->second) +
                            "; it cannot be " + std::string(value) + " as well");
    }
    if (!site.empty() || value != knob.default_value())
        route.values_[std::string(knob.name())][std::string(site)] = std::string(value);
    return route;
}

int Route::index(const KnobBase& knob) const {
    const auto sites = values_.find(knob.name());
    if (sites == values_.end()) return 0;
    const auto whole = sites->second.find("");
    return whole == sites->second.end() ? 0 : known_index(knob, whole->second);
}

int Route::index(const KnobBase& knob, std::span<const std::string> origins) const {
    const auto sites = values_.find(knob.name());
    if (sites == values_.end()) return 0;
    if (!origins.empty()) {
        const std::string& anchor = origins.front();
        const auto exact = anchor.empty() ? sites->second.end() : sites->second.find(anchor);
        if (exact != sites->second.end()) return known_index(knob, exact->second);
        for (const auto& [site, value] : sites->second)
            if (has_glob_characters(site) && glob_match(site, anchor)) return known_index(knob, value);
    }
    return index(knob);
}

void Route::check_sites(std::span<const std::string> all_names) const {
    if (!has_sites()) return;
    const std::unordered_set<std::string_view> names(all_names.begin(), all_names.end());
    for (const auto& [knob, sites] : values_) {
        bool globs = false;
        for (const auto& [site, value] : sites) {
            if (site.empty() || names.contains(site)) continue;
            bool matched = false;
            for (size_t i = 0; i < all_names.size() && has_glob_characters(site) && !matched; ++i)
                matched = glob_match(site, all_names[i]);
            globs = globs || matched;
            if (matched) continue;
            const std::string near = nearest_name(site, all_names);
            throw UserError("route setting " + setting_text(knob, site, value) + " matches no site of the model" +
                            (near.empty() ? "; `headway inspect` lists them"
                                          : "; did you mean " + route_grammar::quoted_site(near) + "?"));
        }
        if (!globs) continue;
        for (const std::string& name : all_names) check_globs_agree(knob, sites, name);
    }
}

bool Route::has_sites() const {
    for (const auto& [knob, sites] : values_)
        if (sites.size() > sites.count("")) return true;
    return false;
}

std::vector<Route::Setting> Route::settings() const {
    std::vector<Setting> settings;
    for (const auto& [knob, sites] : values_)
        for (const auto& [site, value] : sites) settings.push_back({knob, site, value});
    return settings;
}

}  // namespace headway
