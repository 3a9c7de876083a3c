#include <algorithm>
#include <cmath>

#include "ops/doubles.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

bool has_silu(const Attributes& attributes) {
    const std::string word = attributes.text("activation", "none");
    if (word != "none" && word != "silu" && word != "swish")
        throw UserError("attribute activation is neither \"none\" nor \"silu\" nor \"swish\"");
    return word != "none";
}

// x: batch x channels x length; weight: channels x 1 x taps; bias: channels; state: batch x channels x taps - 1.
void infer_causal_conv(InferContext& context) {
    has_silu(context.attributes());
    require_same_types(context);
    const Shape& x = context.shape(0);
    const Shape& weight = context.shape(1);
    if (x.rank() != 3 || weight.rank() != 3 || weight[0] != x[1] || weight[1] != 1 || weight[2] < 1)
        throw UserError("its input of " + x.text() + " and weight of " + weight.text() + " do not fit");
    const Shape state{x[0], x[1], weight[2] - 1};
    if (context.has(2) && context.shape(2) != Shape{x[1]})
        throw UserError("its bias should have shape " + Shape{x[1]}.text());
    if (context.has(3) && context.shape(3) != state)
        throw UserError("its past_state should have shape " + state.text());
    context.set_output(0, context.type(0), x);
    context.set_output(1, context.type(0), state);
}

void causal_conv_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const int64_t length = shape[2];
    const int64_t taps = context.in(1).shape()[2];
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> weight = doubles_of(context.in(1));
    const std::vector<double> bias = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>{};
    std::vector<double> states = zeros(shape[0] * shape[1] * (taps - 1));
    if (context.has(3)) states = doubles_of(context.in(3));
    const bool silu = has_silu(context.attributes);
    std::vector<double> y(x.size());
    std::vector<double> line = zeros(taps - 1 + length);  // of one channel, with what came before it
    for (int64_t row = 0; row < shape[0] * shape[1]; ++row) {
        const int64_t channel = row % shape[1];
        double* state = states.data() + row * (taps - 1);
        std::copy_n(state, taps - 1, line.begin());
        std::copy_n(x.data() + row * length, length, line.begin() + (taps - 1));
        for (int64_t i = 0; i < length; ++i) {
            double sum = bias.empty() ? 0 : bias[static_cast<size_t>(channel)];
            for (int64_t tap = 0; tap < taps; ++tap)
                sum += line[static_cast<size_t>(i + tap)] * weight[static_cast<size_t>(channel * taps + tap)];
            y[static_cast<size_t>(row * length + i)] = silu ? sum / (1 + std::exp(-sum)) : sum;
        }
        std::copy_n(line.end() - (taps - 1), taps - 1, state);
    }
    if (context.wants(0)) store_doubles(y, context.out(0));
    if (context.wants(1)) store_doubles(states, context.out(1));
}

}  // namespace

const Op causal_conv_with_state_op{{
    .name = "CausalConvWithState",
    .since = {27},
    .inputs = {2, 4},
    .outputs = {1, 2},
    .types = float_types,
    .attributes = {{"activation", "string", "none", "none, or silu (also called swish)"}},
    .infer = infer_causal_conv,
    .reference = causal_conv_reference,
    .help = "Depthwise convolution of one axis over an element and those before it, which a state holds; the second "
            "output is the next state.",
}};

}  // namespace headway
