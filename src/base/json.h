// JSON from files and processes that are not trusted.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace headway {

// UserError naming the byte for text that is not JSON, or that nests deeper than any text of ours: what is read later
// by recursion must not use up the stack. The error repeats nothing of the text.
nlohmann::json read_json(std::string_view text);

// A whole number in [least, most]; UserError otherwise.
int64_t whole_between(const nlohmann::json& value, int64_t least, int64_t most);

// Where an integer belongs: the JSON library casts whatever number stands there, which past the type's range is
// undefined.
template <std::signed_integral T>
T whole(const nlohmann::json& value) {
    return static_cast<T>(whole_between(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

}  // namespace headway
