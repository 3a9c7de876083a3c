// The optimisers of ai.onnx.preview.training: one step of each on any number of tensors, by the formulas of its
// operators' definitions.
#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

constexpr TypeSet optimizer_types{ElementType::f32, ElementType::f64};

// After the learning rate and the number of the step come, for each kind in turn, as many tensors as are optimised: the
// tensors, their gradients, their states. The outputs are the tensors and their states.
int64_t optimized_count(size_t inputs, size_t outputs, size_t states) {
    const size_t kinds = 2 + states;
    const size_t count = (inputs - 2) / kinds;
    if (inputs < 2 + kinds || (inputs - 2) % kinds != 0 || outputs != count * (1 + states))
        throw UserError("its " + std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                        " outputs do not belong to whole sets of tensors, gradients and states");
    return static_cast<int64_t>(count);
}

void infer_optimizer(InferContext& context, size_t states) {
    const auto count = static_cast<size_t>(optimized_count(context.input_count(), context.output_count(), states));
    if (context.shape(0).elements() != 1 || context.shape(1).elements() != 1 || context.type(1) != ElementType::i64)
        throw UserError("its learning rate or its number of the step is no scalar");
    for (size_t i = 0; i < count; ++i)
        for (size_t kind = 0; kind < 2 + states; ++kind) {
            const size_t at = 2 + kind * count + i;
            if (context.shape(at) != context.shape(2 + i) || context.type(at) != context.type(2 + i))
                throw UserError("input " + std::to_string(at) + " differs in type or shape from what it belongs to");
            if (!optimizer_types.contains(context.type(at)))
                throw Unsupported("element type " + std::string(to_string(context.type(at))) + " is not handled");
            if (kind != 1)
                context.set_output((kind == 0 ? 0 : kind - 1) * count + i, context.type(at), context.shape(at));
        }
}

struct OptimizerStep {
    double rate = 0;
    double step = 0;  // its number
};

// What one step does to one element: x, its gradient, and its states, which it replaces.
using Update = std::function<double(const OptimizerStep& step, double x, double gradient, std::span<double> states)>;

void run_optimizer(const ReferenceContext& context, size_t states, const Update& update) {
    const auto count = static_cast<size_t>(optimized_count(context.inputs.size(), context.outputs.size(), states));
    const OptimizerStep step{context.in(0).at(0), static_cast<double>(context.in(1).to_int64()[0])};
    const double decay = context.attributes.real("norm_coefficient", 0);
    std::vector<double> state(states);
    for (size_t i = 0; i < count; ++i) {
        const Tensor& x = context.in(2 + i);
        const Tensor& gradient = context.in(2 + count + i);
        for (int64_t at = 0; at < x.elements(); ++at) {
            for (size_t k = 0; k < states; ++k) state[k] = context.in(2 + (2 + k) * count + i).at(at);
            const double next = update(step, x.at(at), decay * x.at(at) + gradient.at(at), state);
            if (context.wants(i)) context.out(i).set(at, next);
            for (size_t k = 0; k < states; ++k)
                if (context.wants((1 + k) * count + i)) context.out((1 + k) * count + i).set(at, state[k]);
        }
    }
}

void adagrad_reference(const ReferenceContext& context) {
    const double decay = context.attributes.real("decay_factor", 0);
    const double epsilon = context.attributes.real("epsilon", 1e-6F);
    run_optimizer(context, 1, [&](const OptimizerStep& step, double x, double gradient, std::span<double> squares) {
        squares[0] += gradient * gradient;
        return x - step.rate / (1 + step.step * decay) * gradient / (std::sqrt(squares[0]) + epsilon);
    });
}

void adam_reference(const ReferenceContext& context) {
    const double alpha = context.attributes.real("alpha", 0.9F);
    const double beta = context.attributes.real("beta", 0.999F);
    const double epsilon = context.attributes.real("epsilon", 1e-6F);
    const double decay = context.attributes.real("norm_coefficient_post", 0);
    run_optimizer(context, 2, [&](const OptimizerStep& step, double x, double gradient, std::span<double> moments) {
        moments[0] = alpha * moments[0] + (1 - alpha) * gradient;
        moments[1] = beta * moments[1] + (1 - beta) * gradient * gradient;
        double rate = step.rate;
        if (step.step > 0) rate *= std::sqrt(1 - std::pow(beta, step.step)) / (1 - std::pow(alpha, step.step));
        return (1 - decay) * (x - rate * moments[0] / (std::sqrt(moments[1]) + epsilon));
    });
}

bool is_nesterov(const Attributes& attributes) {
    const std::string mode = attributes.text("mode", "");
    if (mode != "standard" && mode != "nesterov") throw UserError("attribute mode is neither standard nor nesterov");
    return mode == "nesterov";
}

void momentum_reference(const ReferenceContext& context) {
    const double alpha = context.attributes.real("alpha", 0);
    const double beta = context.attributes.real("beta", 0);
    const bool nesterov = is_nesterov(context.attributes);
    run_optimizer(context, 1, [&](const OptimizerStep& step, double x, double gradient, std::span<double> momentum) {
        momentum[0] = alpha * momentum[0] + (step.step > 0 ? beta : 1) * gradient;
        return x - step.rate * (nesterov ? gradient + alpha * momentum[0] : momentum[0]);
    });
}

const AttributeDoc optimizer_norm_doc{"norm_coefficient", "float", "0.0", "share of each tensor added to its gradient"};
const AttributeDoc optimizer_epsilon_doc{"epsilon", "float", "1e-06", "added to the root"};

}  // namespace

const Op adagrad_op{{
    .name = "Adagrad",
    .domain = "ai.onnx.preview.training",
    .since = {1},
    .inputs = {3, any_number},
    .outputs = {1, any_number},
    .types = optimizer_types,
    .attributes = {{"decay_factor", "float", "0.0", "of the learning rate, per step"},
                   optimizer_epsilon_doc,
                   optimizer_norm_doc},
    .infer = [](InferContext& context) { infer_optimizer(context, 1); },
    .reference = adagrad_reference,
    .help = "One step of Adagrad: gradients divided by the root of the sum of their squares so far.",
}};

const Op adam_op{{
    .name = "Adam",
    .domain = "ai.onnx.preview.training",
    .since = {1},
    .inputs = {3, any_number},
    .outputs = {1, any_number},
    .types = optimizer_types,
    .attributes = {{"alpha", "float", "0.9", "share of the old mean gradient"},
                   {"beta", "float", "0.999", "share of the old mean square"},
                   optimizer_epsilon_doc,
                   optimizer_norm_doc,
                   {"norm_coefficient_post", "float", "0.0", "share taken from each tensor after the step"}},
    .infer = [](InferContext& context) { infer_optimizer(context, 2); },
    .reference = adam_reference,
    .help =
        "One step of Adam: the mean gradient divided by the root of the mean square, both corrected for their start.",
}};

const Op momentum_op{{
    .name = "Momentum",
    .domain = "ai.onnx.preview.training",
    .since = {1},
    .inputs = {3, any_number},
    .outputs = {1, any_number},
    .types = optimizer_types,
    .attributes = {{"alpha", "float", "", "share of the old momentum"},
                   {"beta", "float", "", "factor of the gradient, but for the first step"},
                   {"mode", "string", "", "standard or nesterov"},
                   optimizer_norm_doc},
    .infer =
        [](InferContext& context) {
            is_nesterov(context.attributes());
            infer_optimizer(context, 1);
        },
    .reference = momentum_reference,
    .help = "One step of gradient descent with momentum.",
}};

}  // namespace headway
