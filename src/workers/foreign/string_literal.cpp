#include "workers/foreign/string_literal.h"

namespace headway {

std::string string_literal(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (code < 0x20 || code == 0x7f) {
            // octal: three digits at most in both languages
            result += '\\';
            for (const int shift : {6, 3, 0}) result += static_cast<char>('0' + ((code >> shift) & 7));
        } else {
            result += c;
        }
    }
    return result + "\"";
}

}  // namespace headway
