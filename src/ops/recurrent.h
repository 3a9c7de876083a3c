// What LSTM, GRU and RNN share: operand shapes, directions, activations, sequence lengths and the walk over time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops/doubles.h"
#include "ops/op.h"

namespace headway {

using Activation = std::function<double(double)>;

struct Recurrent {
    int64_t directions, gates, steps, batch, input, hidden;
    bool batch_first;  // layout = 1 (opset 14)

    static Recurrent of(const Attributes& attributes, const Shape& x, const Shape& w, int64_t gates);
};

// Checks the operands and sets Y, Y_h and, for an LSTM, Y_c.
void infer_recurrent(InferContext& context, int64_t gates);

// Activations of one direction: those named, else the operator's own.
std::vector<Activation> recurrent_activations(const Attributes& attributes, int64_t direction, int64_t directions,
                                              const std::vector<std::string>& defaults);

// Limits the input of activations to [-clip, clip].
double clipped(double value, double clip);
// The clip attribute; infinite when absent.
double clip_of(const Attributes& attributes);

std::vector<AttributeDoc> recurrent_attributes();

// Weights of one direction, in double.
struct RecurrentWeights {
    const double* w;          // gates x hidden, input
    const double* r;          // gates x hidden, hidden
    const double* bias;       // 2 x gates x hidden (those of w, then those of r), or nullptr
    const double* peepholes;  // 3 x hidden, or nullptr
};

// The state of one sequence: hidden values, and cells for an LSTM.
struct RecurrentState {
    std::vector<double> hidden, cell;
};

// update(direction, weights, w * x_t (gates x hidden, no bias), r * h (same), state) advances one sequence by one step.
using RecurrentUpdate = std::function<void(int64_t direction, const RecurrentWeights& weights, const double* from_input,
                                           const double* from_hidden, RecurrentState& state)>;

// Runs all sequences in all directions and stores the outputs. Steps beyond a sequence's length give zeros and leave
// the state. cell_input is the position of initial_c (0: none).
void run_recurrent(const ReferenceContext& context, int64_t gates, size_t cell_input, size_t peephole_input,
                   const RecurrentUpdate& update);

}  // namespace headway
