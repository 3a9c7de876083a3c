// JSON from files and processes that are not trusted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace headway {

// UserError naming the byte for text that is not JSON, or that nests deeper than any text of ours: what is read later
// by recursion must not use up the stack. The error repeats nothing of the text.
nlohmann::json read_json(std::string_view text);

}  // namespace headway
