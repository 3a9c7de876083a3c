// The list of cases that do not pass, by exact name: `name outcome reason...` a line, `#` begins a comment line. A case
// that is not in it must pass; one that does better than its line says makes the run fail, so that the list stays true.
// The reason of a case whose outputs are random numbers begins with "random", that of a training operator with
// "training".
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "outcome.h"

namespace headway::conformance {

struct ExpectedLine {
    Outcome outcome;
    std::string reason;
};
using ExpectedList = std::map<std::string, ExpectedLine>;

// UserError naming the file and the line for bad text and for a name that stands in it twice.
ExpectedList read_expected(const std::string& path);

// What the run shows that the list does not foresee, one line each. `whole`: all cases were run, so a listed case that
// is not among the results does not exist.
std::vector<std::string> surprises(const ExpectedList& list, std::span<const CaseResult> results, bool whole);

// The file's text for these results: lines of the list that are still true stay as they are, comments at its head too.
std::string renewed_list(const std::string& old_text, std::span<const CaseResult> results);

}  // namespace headway::conformance
