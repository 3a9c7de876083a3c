// headway knobs: what can be chosen, from the declarations alone.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "workers/described_knobs.h"

namespace headway {
namespace {

struct Options {
    std::string name, builder = "native", model;
    BuildOptions build;
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

// As the builder describes them. Some offer more once they know the model: its variants, its shapes.
DescribedKnobs knobs_of(const Options& options) {
    const Registry<BuilderKind> kinds = declared<BuilderKind>();
    const BuilderKind* kind = kinds.find(options.builder);
    if (kind == nullptr)
        throw UserError("no builder '" + escaped(options.builder) + "'; there are: " + join(kinds.names(), ", "));
    const std::unique_ptr<Builder> builder = kind->make();
    if (!options.model.empty())
        builder->open(open_request(std::filesystem::absolute(options.model).string(), options.build, ""));
    const std::vector<KnobDescription> knobs = builder->describe().knobs;
    if (knobs.empty()) throw UserError("the knobs of " + options.builder + " depend on the model: give --model MODEL");
    return DescribedKnobs(knobs);
}

int list_knobs(const Options& options) {
    const DescribedKnobs described = knobs_of(options);
    const Registry<KnobBase>& registry = described.registry();
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

const Command knobs{
    "knobs", "List the knobs that routes are made of", [](CLI::App& app) -> Command::Action {
        auto options = std::make_shared<Options>();
        app.add_option("name", options->name, "A knob, or a glob over knob names")->type_name("NAME");
        app.add_option("--builder", options->builder, "Whose knobs")->capture_default_str();
        app.add_option("--model", options->model, "A model: some builders offer more for it")->type_name("MODEL");
        add_build_options(app, options->build);
        add_json_option(app, options->json);
        return [options] { return list_knobs(*options); };
    }};

}  // namespace
}  // namespace headway
