// What a DynamicQuantizeLSTM problem says, and its weights in packed form: columns of the gates i, o, f, c of 16 hidden
// units stand together as two panels (recurrent/recurrent_ops.h).
#pragma once

#include <vector>

#include "kernels/cpu/integer/product.h"
#include "kernels/cpu/recurrent/recurrent_ops.h"

namespace headway {

struct DynamicLstmProblem {
    // Positions of the inputs in the operator's order.
    enum Input : size_t { x, w, r, b, lengths, initial_h, initial_c, peephole, w_scale, w_zero, r_scale, r_zero };
    // Positions of the packed blobs; the initial states that are constant follow.
    enum Blob : size_t { bias, w_first, r_first = w_first + 4, states = r_first + 4 };
    // What is packed of one matrix, beginning at w_first or r_first.
    enum Part : size_t { panels, sums, zeros, scales };

    int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
    int64_t directions = 1;
    bool reversed = false;  // the only direction runs backwards
    ElementType w_type = ElementType::i8, r_type = ElementType::i8;

    int64_t blocks() const { return (hidden + recurrent_units - 1) / recurrent_units; }
    int64_t padded_hidden() const { return blocks() * recurrent_units; }
    int64_t columns() const { return blocks() * recurrent_sums; }
    IntegerPanels w_panels() const { return {inputs, columns()}; }
    IntegerPanels r_panels() const { return {hidden, columns()}; }
    bool backwards(int64_t direction) const { return reversed || direction == 1; }

    static Verdict make(const Problem& problem, DynamicLstmProblem& lstm);
};

std::vector<Tensor> pack_dynamic_lstm(const DynamicLstmProblem& lstm, std::span<const Tensor* const> constants);

}  // namespace headway
