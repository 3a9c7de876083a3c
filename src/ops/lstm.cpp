#include "ops/lstm.h"

#include "ops/types.h"

namespace headway {
namespace {

void lstm_reference(const ReferenceContext& context) {
    const RecurrentOperands operands = recurrent_operands(context, lstm_gates, 6, 7);
    run_recurrent(context, operands, lstm_update(context.attributes, operands.sizes));
}

}  // namespace

RecurrentUpdate lstm_update(const Attributes& attributes, const Recurrent& sizes) {
    std::vector<std::vector<Activation>> activations;
    for (int64_t direction = 0; direction < sizes.directions; ++direction)
        activations.push_back(
            recurrent_activations(attributes, direction, sizes.directions, {"Sigmoid", "Tanh", "Tanh"}));
    return [activations = std::move(activations), h = static_cast<size_t>(sizes.hidden), clip = clip_of(attributes),
            couples = attributes.integer("input_forget", 0) != 0](int64_t direction, const RecurrentWeights& weights,
                                                                  const double* wx, const double* rh,
                                                                  RecurrentState& state) {
        const auto& f = activations[static_cast<size_t>(direction)];
        const auto gate = [&](size_t index, size_t i) {
            const size_t k = index * h + i;
            return wx[k] + rh[k] + (weights.bias != nullptr ? weights.bias[k] + weights.bias[4 * h + k] : 0.0);
        };
        const auto peephole = [&](size_t index, size_t i, double cell) {
            return weights.peepholes != nullptr ? weights.peepholes[index * h + i] * cell : 0.0;
        };
        // Gates lie in the order input, output, forget, cell.
        for (size_t i = 0; i < h; ++i) {
            const double old = state.cell[i];
            const double in = f[0](clipped(gate(0, i) + peephole(0, i, old), clip));
            const double forget = couples ? 1 - in : f[0](clipped(gate(2, i) + peephole(2, i, old), clip));
            const double fresh = f[1](clipped(gate(3, i), clip));
            const double cell = forget * old + in * fresh;
            const double out = f[0](clipped(gate(1, i) + peephole(1, i, cell), clip));
            state.cell[i] = cell;
            state.hidden[i] = out * f[2](cell);
        }
    };
}

std::vector<AttributeDoc> lstm_attributes() {
    std::vector<AttributeDoc> docs = recurrent_attributes();
    docs.push_back({"input_forget", "int", "0", "1: the forget gate is 1 minus the input gate"});
    return docs;
}

const Op lstm_op{{
    .name = "LSTM",
    .since = {1, 7, 14, 22},
    .inputs = {3, 8},
    .outputs = {0, 3},
    .types = float_types,
    .attributes = lstm_attributes(),
    .infer = [](InferContext& context) { infer_recurrent(context, lstm_gates); },
    .reference = lstm_reference,
    .help = "Long short-term memory over a sequence, in one or both directions.",
}};

}  // namespace headway
