#include "outcome.h"

#include "base/error.h"
#include "base/text.h"

namespace headway::conformance {

std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::pass:
            return "pass";
        case Outcome::random:
            return "random";
        case Outcome::unsupported:
            return "unsupported";
        case Outcome::wrong:
            return "wrong";
        case Outcome::timeout:
            return "timeout";
        case Outcome::crash:
            return "crash";
    }
    return "";
}

Outcome outcome_from_string(std::string_view word) {
    for (Outcome outcome : all_outcomes)
        if (to_string(outcome) == word) return outcome;
    throw UserError("there is no outcome \"" + escaped(word) + "\"");
}

}  // namespace headway::conformance
