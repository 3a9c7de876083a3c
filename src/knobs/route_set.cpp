#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "knobs/route.h"
#include "knobs/route_grammar.h"

namespace headway {
namespace {

std::vector<std::string> words_of(const route_grammar::Item& item) {
    if (item.value.front() != '[') return {item.value};
    if (item.value.back() != ']') throw UserError("route space: " + item.text() + " has no closing bracket");
    std::vector<std::string> words;
    for (const std::string& part : split(std::string_view(item.value).substr(1, item.value.size() - 2), '|')) {
        std::string word(trimmed(part));
        if (word.empty()) throw UserError("route space: an empty value in " + item.text());
        if (std::find(words.begin(), words.end(), word) != words.end())
            throw UserError("route space: " + word + " stands twice in " + item.text());
        words.push_back(std::move(word));
    }
    return words;
}

}  // namespace

RouteSet RouteSet::parse(std::string_view text, const Registry<KnobBase>& knobs) {
    RouteSet set;
    for (const route_grammar::Item& item : route_grammar::parse(text)) {
        const KnobBase& knob = route_grammar::find_knob(item, knobs);
        for (const Axis& axis : set.axes)
            if (axis.knob == &knob && axis.site == item.site)
                throw UserError("route space: " + item.text() + " comes on top of an earlier setting of the same knob" +
                                (item.site.empty() ? "" : " and site") + "; write one set with all values");
        Axis axis{&knob, item.site, words_of(item)};
        for (const std::string& value : axis.values) route_grammar::check(knob, value, item.site);
        set.axes.push_back(std::move(axis));
    }
    return set;
}

RouteSet RouteSet::all(const Registry<KnobBase>& knobs) {
    RouteSet set;
    for (const KnobBase* knob : knobs) set.axes.push_back({knob, "", knob->values()});
    return set;
}

}  // namespace headway
