#include "ops/quantized_products.h"

#include <algorithm>
#include <cmath>

#include "ops/arguments.h"
#include "ops/conv.h"
#include "ops/doubles.h"
#include "ops/quantize.h"

namespace headway {
namespace {

constexpr TypeSet byte_types{ElementType::i8, ElementType::u8};

// One value for the whole tensor, or one for each of `lines`.
void require_per_line(const InferContext& context, size_t input, int64_t lines, const char* what) {
    if (!context.has(input)) return;
    const Shape& shape = context.shape(input);
    if (shape.elements() == 1 && shape.rank() <= 1) return;
    if (shape != Shape{lines})
        throw Unsupported(std::string(what) + " of " + shape.text() + " has neither one entry nor one for each of " +
                          std::to_string(lines));
}

void store_wrapped(const std::vector<double>& sums, Tensor& y) {
    int32_t* to = y.mutable_data<int32_t>().data();
    for (double sum : sums) *to++ = static_cast<int32_t>(static_cast<int64_t>(sum));
}

MatmulShapes infer_quantized_matmul(const InferContext& context, const QuantizedPlace& a, const QuantizedPlace& b) {
    MatmulShapes shapes = matmul_shapes(context.shape(a.values), context.shape(b.values));
    check_quantized(context, a, shapes.rows);
    check_quantized(context, b, shapes.columns);
    return shapes;
}

std::vector<double> quantized_matmul(const ReferenceContext& context, const MatmulShapes& shapes,
                                     const QuantizedPlace& a, const QuantizedPlace& b) {
    return multiply_matrices(shapes, without_zero(context, a, shapes.rows, shapes.inner),
                             without_zero(context, b, shapes.columns, 1));
}

constexpr QuantizedPlace integer_left{0, 2};
constexpr QuantizedPlace integer_right{1, 3};

void infer_matmul_integer(InferContext& context) {
    const MatmulShapes shapes = infer_quantized_matmul(context, integer_left, integer_right);
    context.set_output(0, ElementType::i32, shapes.output());
}

void matmul_integer_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    const MatmulShapes shapes = matmul_shapes(context.in(0).shape(), context.in(1).shape());
    store_wrapped(quantized_matmul(context, shapes, integer_left, integer_right), context.out(0));
}

// The output's scale and zero point, inputs 6 and 7: one each.
void check_requantized(const InferContext& context) {
    if (!byte_types.contains(context.type(7)))
        throw Unsupported("element type " + std::string(to_string(context.type(7))) + " is not handled");
    if (!float_types.contains(context.type(6))) throw UserError("a scale is not floating point");
    for (size_t i = 6; i < 8; ++i)
        if (context.shape(i).elements() != 1) throw Unsupported("several scales of one output are not supported");
}

constexpr QuantizedPlace scaled_left{0, 2, 1};
constexpr QuantizedPlace scaled_right{3, 5, 4};

void infer_qlinear_matmul(InferContext& context) {
    const MatmulShapes shapes = infer_quantized_matmul(context, scaled_left, scaled_right);
    check_requantized(context);
    context.set_output(0, context.type(7), shapes.output());
}

void qlinear_matmul_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    const MatmulShapes shapes = matmul_shapes(context.in(0).shape(), context.in(3).shape());
    std::vector<double> y = scaled_quantized_matmul(context, shapes, scaled_left, scaled_right);
    const IntegerRange range = integer_range(context.out(0).type());
    for (double& value : y) value = saturated(value / context.in(6).at(0), context.in(7).at(0), range);
    store_doubles(y, context.out(0));
}

Shape infer_quantized_conv(const InferContext& context, const QuantizedPlace& x, const QuantizedPlace& w) {
    Shape y = conv_shape(context.attributes(), context.shape(x.values), context.shape(w.values));
    check_quantized(context, x, 1);
    check_quantized(context, w, y[1]);
    return y;
}

std::vector<double> quantized_conv(const ReferenceContext& context, const QuantizedPlace& x, const QuantizedPlace& w,
                                   const std::vector<double>& bias) {
    const Shape& weights = context.in(w.values).shape();
    return convolve(context.attributes, {context.in(x.values).shape(), without_zero(context, x, 1, 1)},
                    {weights, without_zero(context, w, weights[0], weights.elements(1, weights.rank()))}, bias);
}

void infer_conv_integer(InferContext& context) {
    Shape y = infer_quantized_conv(context, integer_left, integer_right);
    context.set_output(0, ElementType::i32, std::move(y));
}

void conv_integer_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    store_wrapped(quantized_conv(context, integer_left, integer_right, {}), context.out(0));
}

void infer_qlinear_conv(InferContext& context) {
    Shape y = infer_quantized_conv(context, scaled_left, scaled_right);
    check_requantized(context);
    if (context.has(8) && (context.type(8) != ElementType::i32 || context.shape(8) != Shape{y[1]}))
        throw UserError("its bias is not one i32 per output channel");
    context.set_output(0, context.type(7), std::move(y));
}

void qlinear_conv_reference(const ReferenceContext& context) {
    const Shape& shape = context.out(0).shape();
    if (shape.elements() == 0) return;
    const std::vector<double> bias = context.has(8) ? doubles_of(context.in(8)) : std::vector<double>{};
    std::vector<double> y = quantized_conv(context, scaled_left, scaled_right, bias);
    const std::vector<double> scale = per_line(context, scaled_right.scale, shape[1]);
    const double common = context.in(scaled_left.scale).at(0) / context.in(6).at(0);
    const IntegerRange range = integer_range(context.out(0).type());
    const int64_t plane = shape.elements(2, shape.rank());
    for (size_t i = 0; i < y.size(); ++i) {
        const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / plane % shape[1]);
        y[i] = saturated(y[i] * common * scale[channel], context.in(7).at(0), range);
    }
    store_doubles(y, context.out(0));
}

}  // namespace

void check_quantized(const InferContext& context, const QuantizedPlace& place, int64_t lines) {
    if (!byte_types.contains(context.type(place.values)))
        throw Unsupported("element type " + std::string(to_string(context.type(place.values))) + " is not handled");
    if (context.has(place.zero) && context.type(place.zero) != context.type(place.values))
        throw UserError("a zero point has another type than what it belongs to");
    require_per_line(context, place.zero, lines, "a zero point");
    if (place.scale == 0) return;
    if (!float_types.contains(context.type(place.scale))) throw UserError("a scale is not floating point");
    require_per_line(context, place.scale, lines, "a scale");
}

std::vector<double> per_line(const ReferenceContext& context, size_t input, int64_t lines) {
    if (!context.has(input)) return std::vector<double>(static_cast<size_t>(lines), 0);
    std::vector<double> values = doubles_of(context.in(input));
    if (values.size() == 1) values.resize(static_cast<size_t>(lines), values[0]);
    return values;
}

std::vector<double> without_zero(const ReferenceContext& context, const QuantizedPlace& place, int64_t lines,
                                 int64_t inner) {
    std::vector<double> values = doubles_of(context.in(place.values));
    const std::vector<double> zero = per_line(context, place.zero, lines);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] -= zero[static_cast<size_t>(static_cast<int64_t>(i) / inner % lines)];
    return values;
}

std::vector<double> scaled_quantized_matmul(const ReferenceContext& context, const MatmulShapes& shapes,
                                            const QuantizedPlace& a, const QuantizedPlace& b) {
    std::vector<double> y = quantized_matmul(context, shapes, a, b);
    const std::vector<double> left = per_line(context, a.scale, shapes.rows);
    const std::vector<double> right = per_line(context, b.scale, shapes.columns);
    for (size_t i = 0; i < y.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        y[i] *= left[static_cast<size_t>(at / shapes.columns % shapes.rows)] *
                right[static_cast<size_t>(at % shapes.columns)];
    }
    return y;
}

const Op matmul_integer_op{{
    .name = "MatMulInteger",
    .since = {10},
    .inputs = {2, 4},
    .types = byte_types,
    .infer = infer_matmul_integer,
    .reference = matmul_integer_reference,
    .help = "Matrix product of 8-bit integers less their zero points (one, or one per row of a and column of b), as "
            "i32; sums wrap.",
}};

const Op qlinear_matmul_op{{
    .name = "QLinearMatMul",
    .since = {10, 21},
    .inputs = {8, 8},
    .types = byte_types,
    .infer = infer_qlinear_matmul,
    .reference = qlinear_matmul_reference,
    .help = "Matrix product of quantised tensors, quantised again: scales and zero points are one, or one per row of a "
            "and column of b.",
}};

const Op conv_integer_op{{
    .name = "ConvInteger",
    .since = {10},
    .inputs = {2, 4},
    .types = byte_types,
    .attributes = conv_attributes(),
    .infer = infer_conv_integer,
    .reference = conv_integer_reference,
    .help = "Convolution of 8-bit integers less their zero points, as i32; sums wrap.",
}};

const Op qlinear_conv_op{{
    .name = "QLinearConv",
    .since = {10},
    .inputs = {8, 9},
    .types = byte_types,
    .attributes = conv_attributes(),
    .infer = infer_qlinear_conv,
    .reference = qlinear_conv_reference,
    .help =
        "Convolution of quantised tensors, quantised again; weights have one scale and zero point, or one per output "
        "channel.",
}};

}  // namespace headway
