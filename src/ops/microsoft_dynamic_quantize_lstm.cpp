#include "ops/arguments.h"
#include "ops/lstm.h"
#include "ops/quantize.h"
#include "ops/types.h"

namespace headway {
namespace {

constexpr TypeSet quantized_weight_types{ElementType::i8, ElementType::u8};
enum DynamicLstmInput : size_t {
    dynamic_lstm_w_scale = 8,
    dynamic_lstm_w_zero,
    dynamic_lstm_r_scale,
    dynamic_lstm_r_zero
};

// Weights lie transposed: directions x input (or hidden) x gates.
Shape transposed_weights(const Shape& shape) {
    if (shape.rank() != 3) throw UserError("weights of " + shape.text() + " do not have three axes");
    return {shape[0], shape[2], shape[1]};
}

// Scales and zero points: one of each direction, or one of each gate's row.
void check_dynamic_lstm_scales(const InferContext& context, const Recurrent& sizes, size_t weights, size_t scale) {
    if (!quantized_weight_types.contains(context.type(weights)))
        throw Unsupported("weights of " + std::string(to_string(context.type(weights))) + " are not handled");
    const Shape& shape = context.shape(scale);
    if (shape != Shape{sizes.directions} && shape != Shape{sizes.directions, sizes.gates * sizes.hidden})
        throw UserError("a scale of " + shape.text() + " does not fit its weights");
    if (context.type(scale) != ElementType::f32) throw UserError("a scale is not f32");
    if (context.shape(scale + 1) != shape || context.type(scale + 1) != context.type(weights))
        throw UserError("a zero point does not fit its scale or its weights");
}

void infer_dynamic_lstm(InferContext& context) {
    for (size_t i : {dynamic_lstm_w_scale, dynamic_lstm_w_zero, dynamic_lstm_r_scale, dynamic_lstm_r_zero})
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    const Recurrent sizes =
        Recurrent::of(context.attributes(), context.shape(0), transposed_weights(context.shape(1)), lstm_gates);
    if (transposed_weights(context.shape(2)) != Shape{sizes.directions, lstm_gates * sizes.hidden, sizes.hidden})
        throw UserError("R of " + context.shape(2).text() + " does not fit W of " + context.shape(1).text());
    check_dynamic_lstm_scales(context, sizes, 1, dynamic_lstm_w_scale);
    check_dynamic_lstm_scales(context, sizes, 2, dynamic_lstm_r_scale);
    infer_recurrent_states(context, sizes);
}

// The weights that the integers stand for, in ONNX's layout: directions x gates x input.
std::vector<double> dynamic_lstm_weights(const ReferenceContext& context, size_t input, size_t scale_input) {
    const Shape& shape = context.in(input).shape();
    const std::vector<double> values = doubles_of(context.in(input));
    const std::vector<double> scale = doubles_of(context.in(scale_input));
    const std::vector<double> zero = doubles_of(context.in(scale_input + 1));
    const int64_t entries = context.in(scale_input).shape().rank() == 2 ? shape[2] : 1;  // of one direction
    std::vector<double> weights(values.size());
    const double* next = values.data();
    for (int64_t direction = 0; direction < shape[0]; ++direction)
        for (int64_t column = 0; column < shape[1]; ++column)
            for (int64_t row = 0; row < shape[2]; ++row, ++next) {
                const auto k = static_cast<size_t>(direction * entries + (entries > 1 ? row : 0));
                weights[static_cast<size_t>((direction * shape[2] + row) * shape[1] + column)] =
                    (*next - zero[k]) * scale[k];
            }
    return weights;
}

// What is left of values that are quantised before a product.
void round_to_dynamic_range(std::vector<double>& values) {
    const DynamicRange range = DynamicRange::of(values);
    for (double& value : values) value = (range.quantized(value) - range.zero) * range.scale;
}

void dynamic_lstm_reference(const ReferenceContext& context) {
    const Recurrent sizes =
        Recurrent::of(context.attributes, context.in(0).shape(), transposed_weights(context.in(1).shape()), lstm_gates);
    RecurrentOperands operands = recurrent_states(context, sizes, 6, 7);
    operands.w = dynamic_lstm_weights(context, 1, dynamic_lstm_w_scale);
    operands.r = dynamic_lstm_weights(context, 2, dynamic_lstm_r_scale);
    operands.prepare = round_to_dynamic_range;
    run_recurrent(context, operands, lstm_update(context.attributes, sizes));
}

}  // namespace

const Op dynamic_quantize_lstm_op{{
    .name = "DynamicQuantizeLSTM",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {3, 12},
    .outputs = {0, 3},
    .types = {ElementType::f32},
    .attributes = lstm_attributes(),
    .infer = infer_dynamic_lstm,
    .reference = dynamic_lstm_reference,
    // A value between two integers may fall on either side of the edge.
    .tolerance = {.relative = 1e-2, .absolute = 1e-3},
    .help =
        "LSTM with 8-bit weights, laid out as directions x input x gates. Before each product its left operand (the "
        "whole input; the hidden values of all sequences at a step) is quantised to u8 by its range, as "
        "DynamicQuantizeLinear does.",
}};

}  // namespace headway
