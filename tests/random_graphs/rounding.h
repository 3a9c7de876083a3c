// How far a correct engine may be from the interpreter, element by element.
//
// The rule. The reference of each operator computes in double and rounds once. A correct engine computes each node of
// the same graph, or of one with reordered sums, with small errors of its own: as if on inputs moved by a few units in
// the last place, with the result moved by the operator's tolerance, which grows with the square root of the number of
// terms summed. So the graph is interpreted a few times more with random errors of that size put in at each node, and
// what the outputs then move by, times a factor, is allowed. Errors thus grow along the depth as the graph makes them
// grow, and nowhere else. Values that only copying, comparing and integer operators made must be equal to the bit;
// where a rounding to integers reads a value that is not exact, one step is part of the random errors.
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/op.h"

namespace headway::testing {

// Whether every correct engine gives the same bits for equal inputs, the first of which is of this type.
bool is_exact_op(std::string_view op, ElementType type);
// Whether the result depends on the shape of the input alone.
bool reads_no_elements(std::string_view op);
// Whether the result may jump where an input moves a little: such nodes only get exact inputs.
bool jumps(std::string_view op);

struct Allowed {
    std::vector<double> distance;  // per element; 0: equal, infinite: anything
};

// Per output of the bound graph. `operand_move`: how far, relative to their size, an engine may round the operands of
// linear and recurrent operators.
std::vector<Allowed> allowed_errors(const Graph& bound, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& wanted, double operand_move, const Registry<Op>& ops);

}  // namespace headway::testing
