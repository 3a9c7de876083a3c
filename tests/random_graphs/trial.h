// One graph, its inputs and a way to build an engine of it; whether that engine computes what the interpreter does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.h"
#include "rounding.h"

namespace headway::testing {

struct Problem {
    Graph graph;
    uint64_t inputs = 1;   // seed of the values
    bool special = false;  // NaN and infinities among them
};

struct Way {
    std::string route, target;
};

struct Trial {
    Problem problem;
    Way way;
};

// The graph in text form behind comment lines `# target: ...`, `# route: ...`, `# inputs: SEED [special]`.
std::string print_trial(const Trial& trial);
Trial parse_trial(std::string_view text);

// What the interpreter computes of a problem, and how far an engine may be from it.
class Expectation {
public:
    Expectation(const Problem& problem, const Catalogue& catalogue);

    // "" when the engine of this way agrees. Otherwise a line that begins with the kind: `refused: `, `broken: ` (an
    // invariant), `values: `, `unstable: ` (the same engine and inputs, other bits).
    std::string failure(const Way& way) const;

private:
    std::string difference(const std::vector<Tensor>& got, double operand_move) const;
    double operand_move(const Route& route) const;

    const Problem& problem_;
    const Catalogue& catalogue_;
    std::vector<Tensor> inputs_, others_, wanted_;
    Graph bound_;
    std::vector<Allowed> allowed_;
};

std::string failure_of(const Trial& trial, const Catalogue& catalogue);

}  // namespace headway::testing
