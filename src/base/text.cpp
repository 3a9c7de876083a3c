#include "base/text.h"

#include <cmath>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace headway {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row[b.size()];
}

// Length of the valid UTF-8 sequence at the start of text, or 0.
size_t utf8_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xF0 && lead < 0xF5 ? 4
                                                        : 0;
    if (length == 0 || text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
    return length;
}

}  // namespace

std::string nearest_name(std::string_view wrong, std::span<const std::string> candidates) {
    std::string best;
    size_t best_distance = std::max<size_t>(2, wrong.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const size_t distance = edit_distance(wrong, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

bool has_glob_characters(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

bool glob_match(std::string_view glob, std::string_view text) {
    size_t g = 0, t = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (g < glob.size() && (glob[g] == '?' || (glob[g] != '*' && glob[g] == text[t]))) {
            ++g, ++t;
        } else if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

std::string escaped(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const size_t length =
            c >= 0x80 ? utf8_length(text.substr(i)) : (c >= 0x20 && c != 0x7F && c != '"' && c != '\\');
        if (length == 0) {
            char code[5];
            std::snprintf(code, sizeof code, "\\x%02X", c);
            out += code;
            ++i;
        } else {
            out.append(text.substr(i, length));
            i += length;
        }
    }
    return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1)
        parts.emplace_back(text.substr(begin, end - begin));
    parts.emplace_back(text.substr(begin));
    return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
    std::string out;
    for (const std::string& part : parts) {
        if (&part != parts.data()) out += separator;
        out += part;
    }
    return out;
}

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string percent(double share) {
    const auto tenths = static_cast<int64_t>(std::lround(share * 1000));
    return std::to_string(tenths / 10) + "." + std::to_string(std::abs(tenths % 10)) + " %";
}

}  // namespace headway
