#include "ops/recurrent.h"
#include "ops/types.h"

namespace headway {
namespace {

void rnn_reference(const ReferenceContext& context) {
    const Recurrent sizes = Recurrent::of(context.attributes, context.in(0).shape(), context.in(1).shape(), 1);
    const double clip = clip_of(context.attributes);
    std::vector<Activation> activations;
    for (int64_t direction = 0; direction < sizes.directions; ++direction)
        activations.push_back(recurrent_activations(context.attributes, direction, sizes.directions, {"Tanh"})[0]);
    const auto h = static_cast<size_t>(sizes.hidden);
    run_recurrent(context, recurrent_operands(context, 1, 0, 0),
                  [&](int64_t direction, const RecurrentWeights& weights, const double* wx, const double* rh,
                      RecurrentState& state) {
                      for (size_t i = 0; i < h; ++i) {
                          const double bias = weights.bias != nullptr ? weights.bias[i] + weights.bias[h + i] : 0.0;
                          state.hidden[i] =
                              activations[static_cast<size_t>(direction)](clipped(wx[i] + rh[i] + bias, clip));
                      }
                  });
}

}  // namespace

const Op rnn_op{{
    .name = "RNN",
    .since = {1, 7, 14, 22},
    .inputs = {3, 6},
    .outputs = {0, 2},
    .types = float_types,
    .attributes = recurrent_attributes(),
    .infer = [](InferContext& context) { infer_recurrent(context, 1); },
    .reference = rnn_reference,
    .help = "Simple recurrence over a sequence, in one or both directions.",
}};

}  // namespace headway
