#include "workers/described_knobs.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace headway {

class DescribedKnobs::Described final : public KnobBase {
public:
    explicit Described(const KnobDescription& knob) {
        name_ = knob.name;
        help_ = knob.help;
        family_ = knob.family;
        values_ = knob.values;
        scope_ = knob.scope == "site" ? Scope::site : Scope::graph;
        for (const Numerics numerics : {Numerics::exact, Numerics::reorders, Numerics::approximates, Numerics::reduced})
            if (to_string(numerics) == knob.numerics) numerics_ = numerics;
    }
};

DescribedKnobs::DescribedKnobs(const std::vector<KnobDescription>& knobs) {
    std::vector<const KnobBase*> list;
    for (const KnobDescription& knob : knobs) {
        if (knob.values.empty() || knob.name.empty())
            throw UserError("the builder describes a knob without a name or values: '" + escaped(knob.name) + "'");
        knobs_.push_back(std::make_shared<const Described>(knob));
        list.push_back(knobs_.back().get());
    }
    const auto by_name = [](const KnobBase* a, const KnobBase* b) { return a->name() < b->name(); };
    std::sort(list.begin(), list.end(), by_name);
    for (size_t i = 1; i < list.size(); ++i)
        if (list[i - 1]->name() == list[i]->name())
            throw UserError("the builder describes the knob '" + escaped(list[i]->name()) + "' twice");
    registry_ = Registry<KnobBase>(std::move(list));
}

Hash DescribedKnobs::hash() const {
    Hasher hasher;
    for (const KnobBase* knob : registry_) {
        hasher.add(knob->name());
        for (const std::string& value : knob->values()) hasher.add(value);
    }
    return hasher.finish();
}

}  // namespace headway
