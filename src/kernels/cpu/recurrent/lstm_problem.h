// What an LSTM problem says: extents, directions, and which inputs are there; and its weights in packed form.
#pragma once

#include "kernels/cpu/recurrent/lstm_ops.h"
#include "kernels/kernel.h"

namespace headway {

struct LstmProblem {
    // Positions of the inputs in ONNX order.
    enum Input : size_t { x, w, r, b, lengths, initial_h, initial_c, peephole };

    int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
    int64_t directions = 1;
    bool reversed = false;  // the only direction runs backwards

    int64_t blocks() const { return (hidden + lstm_units - 1) / lstm_units; }
    int64_t padded_hidden() const { return blocks() * lstm_units; }
    bool backwards(int64_t direction) const { return reversed || direction == 1; }

    static Verdict make(const Problem& problem, LstmProblem& lstm);
};

inline bool has_input(const Problem& problem, size_t index) {
    return index < problem.src.size() && problem.src[index].has_value();
}

// Blobs: biases, f32[directions][blocks][64], both of ONNX added; weights, [directions][blocks][inputs + hidden][64];
// then the initial states that are constant.
std::vector<Tensor> pack_lstm(const Problem& problem, const LstmProblem& lstm, LstmWeights form,
                              std::span<const Tensor* const> constants);

}  // namespace headway
