#include "tuner/markdown.h"

#include "base/text.h"

namespace headway {

std::string markdown_cell(std::string_view text) {
    std::string out;
    for (const char c : escaped(text)) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace headway
