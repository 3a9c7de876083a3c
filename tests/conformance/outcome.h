// How one case came out on one engine. A case that is refused, crashes or hangs is that case's outcome and nobody
// else's.
#pragma once

#include <string>
#include <string_view>

namespace headway::conformance {

enum class Outcome {
    pass,
    random,       // the case's outputs are random numbers: kinds, types and shapes are right
    unsupported,  // refused with a reason
    wrong,        // other values, or an error where there should be values
    timeout,
    crash,  // ended by a signal, a broken invariant, or out of memory
};
inline constexpr Outcome all_outcomes[] = {Outcome::pass,  Outcome::random,  Outcome::unsupported,
                                           Outcome::wrong, Outcome::timeout, Outcome::crash};

std::string_view to_string(Outcome outcome);
// UserError for an unknown word.
Outcome outcome_from_string(std::string_view word);

struct CaseResult {
    std::string name;
    Outcome outcome = Outcome::crash;
    std::string detail;
};

}  // namespace headway::conformance
