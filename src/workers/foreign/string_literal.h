// Text in the code that snippets are made of.
#pragma once

#include <string>
#include <string_view>

namespace headway {

// A string literal that Python and C++ read alike; both read bytes beyond ASCII as UTF-8.
std::string string_literal(std::string_view text);

}  // namespace headway
