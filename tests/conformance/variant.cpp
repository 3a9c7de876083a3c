#include "variant.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace headway::conformance {

std::string_view to_string(Relation relation) {
    switch (relation) {
        case Relation::same:
            return "same";
        case Relation::unchanged:
            return "unchanged";
        case Relation::refused:
            return "refused";
        case Relation::differs:
            return "differs";
        case Relation::crash:
            return "crash";
        case Relation::timeout:
            return "timeout";
    }
    return "";
}

Relation relation_from_string(std::string_view word) {
    for (Relation relation : all_relations)
        if (to_string(relation) == word) return relation;
    throw InternalError("there is no relation " + std::string(word));
}

Finding found_as(const std::optional<std::string>& difference) {
    if (!difference) return {};
    return {Relation::differs, *difference};
}

std::vector<Variant> variants_of(const VariantInput& input) {
    std::vector<Variant> all;
    for (const auto part : {route_variants, model_variants, file_variants})
        std::ranges::move(part(input), std::back_inserter(all));
    return all;
}

}  // namespace headway::conformance
