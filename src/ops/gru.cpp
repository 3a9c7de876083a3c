#include "ops/recurrent.h"
#include "ops/product.h"
#include "ops/types.h"

namespace headway {
namespace {

// Gates lie in the order update, reset, hidden.
void gru_reference(const ReferenceContext& context) {
    const Recurrent sizes = Recurrent::of(context.attributes, context.in(0).shape(), context.in(1).shape(), 3);
    const double clip = clip_of(context.attributes);
    const bool linear_first = context.attributes.integer("linear_before_reset", 0) != 0;
    std::vector<std::vector<Activation>> activations;
    for (int64_t direction = 0; direction < sizes.directions; ++direction)
        activations.push_back(
            recurrent_activations(context.attributes, direction, sizes.directions, {"Sigmoid", "Tanh"}));
    const auto h = static_cast<size_t>(sizes.hidden);
    std::vector<double> update(h);
    std::vector<double> reset(h);
    std::vector<double> hidden(h);
    run_recurrent(
        context, recurrent_operands(context, 3, 0, 0),
        [&](int64_t direction, const RecurrentWeights& weights, const double* wx, const double* rh,
            RecurrentState& state) {
            const auto& f = activations[static_cast<size_t>(direction)];
            const auto bias_w = [&](size_t k) { return weights.bias != nullptr ? weights.bias[k] : 0.0; };
            const auto bias_r = [&](size_t k) { return weights.bias != nullptr ? weights.bias[3 * h + k] : 0.0; };
            for (size_t i = 0; i < h; ++i) {
                update[i] = f[0](clipped(wx[i] + rh[i] + bias_w(i) + bias_r(i), clip));
                reset[i] = f[0](clipped(wx[h + i] + rh[h + i] + bias_w(h + i) + bias_r(h + i), clip));
                hidden[i] = linear_first ? reset[i] * (rh[2 * h + i] + bias_r(2 * h + i)) : reset[i] * state.hidden[i];
            }
            if (!linear_first) {
                const std::vector<double> masked = hidden;
                multiply(weights.r + 2 * h * h, masked.data(), hidden.data(), sizes.hidden, 1, sizes.hidden);
                for (size_t i = 0; i < h; ++i) hidden[i] += bias_r(2 * h + i);
            }
            for (size_t i = 0; i < h; ++i) {
                const double fresh = f[1](clipped(wx[2 * h + i] + bias_w(2 * h + i) + hidden[i], clip));
                state.hidden[i] = (1 - update[i]) * fresh + update[i] * state.hidden[i];
            }
        });
}

std::vector<AttributeDoc> gru_attributes() {
    std::vector<AttributeDoc> docs = recurrent_attributes();
    docs.push_back(
        {"linear_before_reset", "int", "0", "1: the reset gate scales after the product with the hidden values"});
    return docs;
}

}  // namespace

const Op gru_op{{
    .name = "GRU",
    .since = {1, 3, 7, 14, 22},
    .inputs = {3, 6},
    .outputs = {0, 2},
    .types = float_types,
    .attributes = gru_attributes(),
    .infer = [](InferContext& context) { infer_recurrent(context, 3); },
    .reference = gru_reference,
    .help = "Gated recurrent unit over a sequence, in one or both directions.",
}};

}  // namespace headway
