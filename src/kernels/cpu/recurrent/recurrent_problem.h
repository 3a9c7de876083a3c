// What a recurrent problem says: the cell and how the sums of its blocks are laid out, extents, directions, and which
// inputs are there.
#pragma once

#include "kernels/cpu/recurrent/recurrent_ops.h"
#include "kernels/kernel.h"

namespace headway {

enum class RecurrentCell : uint8_t { lstm, gru, gru_linear, rnn };  // gru_linear: linear_before_reset is 1

// Sums of a block that are complete at the same time: `slots` of them from `w_slot` on get the input's share, as many
// from `r_slot` on the product of the hidden values (or, in a second part, of what the first one made of them).
struct RecurrentPart {
    int w_slot, r_slot, slots;
};

struct RecurrentForm {
    int gates;                     // of W, R and half of B; the first slots of a block
    int slots;                     // of a block; a slot beyond the gates gets nothing from the input but R's bias
    int gate_of[recurrent_slots];  // gate of each slot in ONNX order
    int parts;
    RecurrentPart part[2];
    int state_arrays;  // arrays of a value for each hidden unit that steps hand on
};

struct RecurrentProblem {
    // Positions of the inputs in ONNX order.
    enum Input : size_t { x, w, r, b, lengths, initial_h, initial_c, peephole };

    RecurrentCell cell = RecurrentCell::lstm;
    int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
    int64_t directions = 1;
    bool reversed = false;  // the only direction runs backwards

    const RecurrentForm& form() const;
    int64_t blocks() const { return (hidden + recurrent_units - 1) / recurrent_units; }
    int64_t padded_hidden() const { return blocks() * recurrent_units; }
    int64_t columns() const { return padded_hidden() * form().gates; }  // of the input's products, for a direction
    bool backwards(int64_t direction) const { return reversed || direction == 1; }

    static Verdict make(const Problem& problem, RecurrentProblem& recurrent);
};

inline bool has_input(const Problem& problem, size_t index) {
    return index < problem.src.size() && problem.src[index].has_value();
}

}  // namespace headway
