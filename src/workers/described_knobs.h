// The knobs of a builder as its worker describes them: a registry to parse routes with, made at run time.
#pragma once

#include <memory>
#include <vector>

#include "base/hash.h"
#include "knobs/knob.h"
#include "knobs/route.h"
#include "workers/builder.h"

namespace headway {

class DescribedKnobs {
public:
    DescribedKnobs() = default;
    // UserError for a knob without values or two with one name: the worker is not to be trusted.
    explicit DescribedKnobs(const std::vector<KnobDescription>& knobs);

    const Registry<KnobBase>& registry() const { return registry_; }
    // Of names and values in order: a changed default is another space.
    Hash hash() const;

private:
    class Described;
    std::vector<std::shared_ptr<const Described>> knobs_;
    Registry<KnobBase> registry_;
};

}  // namespace headway
