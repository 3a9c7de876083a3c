#include "base/json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace headway {

nlohmann::json read_json(std::string_view text) {
    constexpr int deepest = 64;
    const auto check_depth = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > deepest) throw UserError("JSON nested deeper than " + std::to_string(deepest));
        return true;
    };
    try {
        return nlohmann::json::parse(text, check_depth);
    } catch (const nlohmann::json::exception& error) {
        const auto* place = dynamic_cast<const nlohmann::json::parse_error*>(&error);
        throw UserError("not JSON" + (place != nullptr ? " at byte " + std::to_string(place->byte) : ""));
    }
}

int64_t whole_between(const nlohmann::json& value, int64_t least, int64_t most) {
    if (!value.is_number_integer()) throw UserError("something else where a whole number belongs");
    const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= static_cast<uint64_t>(most)
                                                 : value.get<int64_t>() >= least && value.get<int64_t>() <= most;
    if (!fits) throw UserError("a whole number past its range");
    return value.get<int64_t>();
}

}  // namespace headway
