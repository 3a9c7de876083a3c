#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "base/hash.h"
#include "base/rng.h"
#include "closeness.h"
#include "variant.h"

namespace headway::conformance {
namespace {

constexpr double chance_of_setting = 0.3;  // that a random route sets a knob

// The most that the route's settings promise to do to the numbers.
Numerics numerics_of(const Route& route, const Catalogue& catalogue) {
    Numerics worst = Numerics::exact;
    for (const Route::Setting& setting : route.settings())
        worst = std::max(worst, catalogue.knobs.find(setting.knob)->numerics());
    return worst;
}

Route all_passes_off(const Catalogue& catalogue) {
    Route route;
    for (const Pass* pass : catalogue.passes)
        if (pass->fields().enabled != nullptr) route = route.with(*pass->fields().enabled, "off");
    return route;
}

// Every other route without reduced formats, whose wide tolerance hides small faults.
Route random_route(Rng& rng, const Catalogue& catalogue) {
    const bool reduced = rng.coin();
    Route route;
    for (const KnobBase* knob : catalogue.knobs)
        if (rng.chance(chance_of_setting) && (reduced || knob->numerics() != Numerics::reduced))
            route = route.with(*knob, knob->values()[rng.below(knob->values().size())]);
    return route;
}

Finding compared(const VariantInput& input, const std::vector<Tensor>& got, Numerics numerics) {
    return found_as(reordered_difference(as_data(got), as_data(input.outputs), input.tolerance, numerics));
}

// Values of one knob often give one engine; it is compared once.
std::vector<Variant> knob_variants(const VariantInput& input) {
    std::vector<Variant> variants;
    for (const KnobBase* knob : input.catalogue.knobs) {
        const auto seen = std::make_shared<std::set<Hash>>();
        seen->insert(input.native.default_build().plan.fingerprint());
        for (const std::string& value : knob->values()) {
            if (value == knob->default_value()) continue;
            variants.push_back({"knob " + std::string(knob->name()) + "=" + value, [&input, knob, value, seen] {
                                    const Plan plan = input.native.build(Route().with(*knob, value)).plan;
                                    if (!seen->insert(plan.fingerprint()).second)
                                        return Finding{Relation::unchanged, ""};
                                    return compared(input, input.native.run(plan), knob->numerics());
                                }});
        }
    }
    return variants;
}

Variant of_route(const VariantInput& input, const std::string& name, const Route& route) {
    return {name, [&input, route] {
                const Plan plan = input.native.build(route).plan;
                if (plan.fingerprint() == input.native.default_build().plan.fingerprint())
                    return Finding{Relation::unchanged, ""};
                Finding finding = compared(input, input.native.run(plan), numerics_of(route, input.catalogue));
                if (is_failure(finding.relation)) finding.detail += " along " + route.text();
                return finding;
            }};
}

// Engines for lesser instruction sets than this machine's.
std::vector<Variant> isa_variants(const VariantInput& input) {
    std::vector<Variant> variants;
    for (Isa isa : {Isa::baseline, Isa::avx2}) {
        Target target = input.native.target();
        if (isa >= target.isa) continue;
        target.isa = isa;
        variants.push_back({"isa " + std::string(to_string(isa)), [&input, target] {
                                const Plan plan = input.native.build(Route(), target).plan;
                                return compared(input, input.native.run(plan, target), Numerics::reorders);
                            }});
    }
    return variants;
}

}  // namespace

std::vector<Variant> route_variants(const VariantInput& input) {
    std::vector<Variant> variants = knob_variants(input);
    std::ranges::move(isa_variants(input), std::back_inserter(variants));
    variants.push_back(of_route(input, "passes off", all_passes_off(input.catalogue)));
    Rng rng(input.seed ^ hash_text(input.name).low);
    variants.push_back(of_route(input, "route", random_route(rng, input.catalogue)));
    return variants;
}

}  // namespace headway::conformance
