// Small text helpers: names close to a wrong one, globs, and escaping of names that come from files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

// The candidate nearest to `wrong` by edit distance, or "" when none is near enough to be a typo.
std::string nearest_name(std::string_view wrong, std::span<const std::string> candidates);

// Glob with * (any run of characters, '/' included) and ?. Linear time in the text for each star.
bool glob_match(std::string_view glob, std::string_view text);
bool has_glob_characters(std::string_view text);

// Control characters, quotes and bytes that are not printable ASCII or valid UTF-8 become \xNN, for terminals and logs.
std::string escaped(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);

// A share with one digit behind the point: 0.012 is "1.2 %".
std::string percent(double share);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trimmed(std::string_view text);

}  // namespace headway
