// What LSTM, GRU and RNN share: operand shapes, directions, activations, sequence lengths and the walk over time.
#pragma once

#include <functional>
#include <optional>
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
// The same for what stands beside the weights: B, sequence_lens, initial_h, initial_c and P.
void infer_recurrent_states(InferContext& context, const Recurrent& sizes);

// The function of this name, in whatever case; parameters that are not given are ONNX's. UserError for an unknown name.
Activation activation_of(std::string name, std::optional<double> alpha, std::optional<double> beta);

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

// What a walk over time reads, in double and in ONNX's layouts; empty where it is absent.
struct RecurrentOperands {
    Recurrent sizes;
    std::vector<double> x, w, r, bias, first_hidden, first_cell, peepholes;
    std::vector<int64_t> lengths;  // of each sequence
    // What becomes of a left operand before a product: of x as a whole, and of the hidden values of all sequences
    // (zeros where one has ended) at each step. Empty: nothing.
    std::function<void(std::vector<double>&)> prepare;
};

// Operands from the inputs of an ONNX operator. cell_input is the position of initial_c, peephole_input that of P (0:
// none).
RecurrentOperands recurrent_operands(const ReferenceContext& context, int64_t gates, size_t cell_input,
                                     size_t peephole_input);
// The same without W and R.
RecurrentOperands recurrent_states(const ReferenceContext& context, const Recurrent& sizes, size_t cell_input,
                                   size_t peephole_input);

// Runs all sequences in all directions and stores the outputs. Steps beyond a sequence's length give zeros and leave
// the state.
void run_recurrent(const ReferenceContext& context, const RecurrentOperands& operands, const RecurrentUpdate& update);

}  // namespace headway
