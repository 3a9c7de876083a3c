#include "knobs/knob.h"

namespace headway {

std::string_view to_string(Numerics numerics) {
    switch (numerics) {
        case Numerics::exact:
            return "exact";
        case Numerics::reorders:
            return "reorders";
        case Numerics::approximates:
            return "approximates";
        case Numerics::reduced:
            return "reduced";
    }
    return "exact";
}

std::string_view to_string(Scope scope) { return scope == Scope::graph ? "graph" : "site"; }

int KnobBase::index_of(std::string_view value) const {
    for (size_t i = 0; i < values_.size(); ++i)
        if (values_[i] == value) return static_cast<int>(i);
    return -1;
}

}  // namespace headway
