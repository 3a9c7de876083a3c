#include "expected.h"

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace headway::conformance {
namespace {

ExpectedList parse(const std::string& text, const std::string& path) {
    ExpectedList list;
    int number = 0;
    for (const std::string& raw : split(text, '\n')) {
        ++number;
        const std::string line(trimmed(raw));
        if (line.empty() || line[0] == '#') continue;
        const std::string where = path + " line " + std::to_string(number) + ": ";
        const size_t first = line.find(' ');
        const size_t second = first == std::string::npos ? first : line.find(' ', first + 1);
        if (second == std::string::npos) throw UserError(where + "a line is `name outcome reason`");
        const Outcome outcome = outcome_from_string(line.substr(first + 1, second - first - 1));
        if (outcome == Outcome::pass) throw UserError(where + "cases that pass are not listed");
        const bool fresh = list.emplace(line.substr(0, first), ExpectedLine{outcome, line.substr(second + 1)}).second;
        if (!fresh) throw UserError(where + "the case stands here twice");
    }
    return list;
}

}  // namespace

ExpectedList read_expected(const std::string& path) { return parse(read_file(path), path); }

std::vector<std::string> surprises(const ExpectedList& list, std::span<const CaseResult> results, bool whole) {
    std::vector<std::string> found;
    std::set<std::string> seen;
    for (const CaseResult& result : results) {
        seen.insert(result.name);
        const auto listed = list.find(result.name);
        const Outcome foreseen = listed == list.end() ? Outcome::pass : listed->second.outcome;
        if (result.outcome == foreseen) continue;
        std::string line = result.name + " " + std::string(to_string(result.outcome)) + " " + result.detail;
        if (listed != list.end()) line += " (listed as " + std::string(to_string(foreseen)) + ")";
        found.push_back(std::move(line));
    }
    for (const auto& [name, line] : list)
        if (whole && !seen.contains(name)) found.push_back(name + " is listed but there is no such case");
    return found;
}

std::string renewed_list(const std::string& old_text, std::span<const CaseResult> results) {
    const ExpectedList old = parse(old_text, "the old list");
    std::string text;
    for (const std::string& line : split(old_text, '\n')) {
        if (!line.starts_with('#')) break;
        text += line + "\n";
    }
    for (const CaseResult& result : results) {
        if (result.outcome == Outcome::pass) continue;
        const auto listed = old.find(result.name);
        const bool same = listed != old.end() && listed->second.outcome == result.outcome;
        const std::string reason = same ? listed->second.reason : result.detail;
        text += result.name + " " + std::string(to_string(result.outcome)) + " " + reason + "\n";
    }
    return text;
}

}  // namespace headway::conformance
