// headway knobs: what can be chosen, from the declarations alone.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "knobs/knob.h"

namespace headway {
namespace {

struct Options {
    std::string name;
    bool json = false;
};

nlohmann::ordered_json to_json(const KnobBase& knob) {
    return {{"name", knob.name()},
            {"family", knob.family()},
            {"help", knob.help()},
            {"values", knob.values()},
            {"default", knob.default_value()},
            {"numerics", to_string(knob.numerics())},
            {"scope", to_string(knob.scope())}};
}

void print_one(const KnobBase& knob) {
    std::cout << fmt::format(
        "{}\n    {}\n    family    {}\n    values    {}   (default {})\n    numerics  {}\n    scope     {}\n",
        knob.name(), knob.help(), knob.family(), join(knob.values(), "|"), knob.default_value(),
        to_string(knob.numerics()), to_string(knob.scope()));
}

void print_all(const std::vector<const KnobBase*>& knobs) {
    std::map<std::string_view, std::vector<const KnobBase*>> families;
    for (const KnobBase* knob : knobs) families[knob->family()].push_back(knob);
    for (const auto& [family, members] : families) {
        std::cout << fmt::format("{}\n", family);
        for (const KnobBase* knob : members)
            std::cout << fmt::format("  {}=[{}]{}\n      {}\n", knob->name(), join(knob->values(), "|"),
                                     knob->scope() == Scope::site ? "  (per site)" : "", knob->help());
    }
}

// All knobs, the one with that name, or those that a glob matches.
std::vector<const KnobBase*> select(const Registry<KnobBase>& registry, const std::string& name) {
    std::vector<const KnobBase*> selected;
    for (const KnobBase* knob : registry)
        if (name.empty() || glob_match(name, knob->name())) selected.push_back(knob);
    if (!selected.empty() || name.empty()) return selected;
    const std::string nearest = nearest_name(name, registry.names());
    throw UserError("no knob '" + escaped(name) + "'" +
                    (nearest.empty() ? "; see headway knobs" : "; did you mean '" + nearest + "'?"));
}

int list_knobs(const Options& options) {
    const Registry<KnobBase> registry = declared<KnobBase>();
    const std::vector<const KnobBase*> knobs = select(registry, options.name);
    if (options.json) {
        nlohmann::ordered_json array = nlohmann::ordered_json::array();
        for (const KnobBase* knob : knobs) array.push_back(to_json(*knob));
        std::cout << array.dump(1) << "\n";
    } else if (!options.name.empty()) {
        for (const KnobBase* knob : knobs) print_one(*knob);
    } else {
        print_all(knobs);
    }
    return exit_yes;
}

const Command knobs{"knobs", "List the knobs that routes are made of", [](CLI::App& app) -> Command::Action {
                        auto options = std::make_shared<Options>();
                        app.add_option("name", options->name, "A knob, or a glob over knob names")->type_name("NAME");
                        add_json_option(app, options->json);
                        return [options] { return list_knobs(*options); };
                    }};

}  // namespace
}  // namespace headway
