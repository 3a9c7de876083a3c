// Text from models and studies inside Markdown tables.
#pragma once

#include <string>
#include <string_view>

namespace headway {

// Escaped for terminals, and so that it stays one cell.
std::string markdown_cell(std::string_view text);

}  // namespace headway
