// The only way to say "does not apply": yes, or no with a reason from one catalogue. Every refusal in a ledger is one.
#pragma once

#include <string>
#include <string_view>

namespace headway {

enum class Reason {
    none,
    operator_not_handled,  // the kernel or pass is not about this operator
    attribute,             // an attribute value is outside what is handled
    element_type,          // an element type is not handled
    shape,                 // a rank, size or channel count is not handled
    layout,                // a physical layout is not handled
    needs_constant,        // an operand must be known at build time
    epilogue,              // the fused body cannot be evaluated here
    isa,                   // the target lacks an instruction set
    provider,              // a provider (oneDNN) is absent or refuses
    knob,                  // switched off, or another value was asked for
    threshold,             // a heuristic's threshold filters it out; forcing is possible
    consumers,             // a value is read elsewhere or is a graph output
    cost,                  // legal, but another candidate was priced lower
    pattern,               // the neighbourhood does not match
    conflict,              // two settings ask for different things at one site
    limit,                 // a size, memory or depth limit
    accuracy,              // numerically not acceptable here
};

std::string_view to_string(Reason reason);
// Inverse of to_string; Reason::none for unknown words.
Reason reason_from_string(std::string_view word);

struct Verdict {
    Reason reason = Reason::none;
    std::string detail;  // short, names the values that decided, e.g. "stride 2 (needs 1)"

    explicit operator bool() const { return reason == Reason::none; }
    static Verdict yes() { return {}; }
    static Verdict no(Reason reason, std::string detail) { return {reason, std::move(detail)}; }
    // "shape: stride 2 (needs 1)", or "yes".
    std::string text() const;
};

}  // namespace headway
