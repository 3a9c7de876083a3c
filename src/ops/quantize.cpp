#include "ops/quantize.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

constexpr TypeSet quantized_types{ElementType::u8, ElementType::i8, ElementType::u16, ElementType::i16,
                                  ElementType::i32};

ElementType quantized_type(const InferContext& context) {
    if (context.has(2)) return context.type(2);
    const int64_t given = context.attributes().integer("output_dtype", 0);
    if (given < 0 || given > 31) throw Unsupported("its output type is not handled");
    return given == 0 ? ElementType::u8 : static_cast<ElementType>(given);
}

// The quotient as f32, since ONNX rounds that one: in double, ties would fall otherwise.
double rounded_quotient(double x, double scale) { return std::nearbyint(static_cast<float>(x / scale)); }

void infer_quantize(InferContext& context) {
    ScaleMap::of(context.attributes(), context.shape(0), context.shape(1));
    const ElementType type = quantized_type(context);
    if (!quantized_types.contains(type) || type == ElementType::i32)
        throw Unsupported("its output type is not handled");
    if (context.has(2) && context.shape(2) != context.shape(1))
        throw UserError("its scale and zero point differ in shape");
    context.set_output(0, type, context.shape(0));
}

void quantize_reference(const ReferenceContext& context) {
    const ScaleMap map = ScaleMap::of(context.attributes, context.in(0).shape(), context.in(1).shape());
    const IntegerRange range = integer_range(context.out(0).type());
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = doubles_of(context.in(1));
    const std::vector<double> zero = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>(scale.size(), 0);
    for (size_t i = 0; i < x.size(); ++i) {
        const auto k = static_cast<size_t>(map.at(static_cast<int64_t>(i)));
        x[i] = std::clamp(rounded_quotient(x[i], scale[k]) + zero[k], range.low, range.high);
    }
    store_doubles(x, context.out(0));
}

void infer_dequantize(InferContext& context) {
    ScaleMap::of(context.attributes(), context.shape(0), context.shape(1));
    if (context.has(2) && (context.shape(2) != context.shape(1) || context.type(2) != context.type(0)))
        throw UserError("its zero point does not fit its scale or its input");
    context.set_output(0, context.type(1), context.shape(0));
}

void dequantize_reference(const ReferenceContext& context) {
    const ScaleMap map = ScaleMap::of(context.attributes, context.in(0).shape(), context.in(1).shape());
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = doubles_of(context.in(1));
    const std::vector<double> zero = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>(scale.size(), 0);
    for (size_t i = 0; i < x.size(); ++i) {
        const auto k = static_cast<size_t>(map.at(static_cast<int64_t>(i)));
        x[i] = (x[i] - zero[k]) * scale[k];
    }
    store_doubles(x, context.out(0));
}

void infer_dynamic_quantize(InferContext& context) {
    context.set_output(0, ElementType::u8, context.shape(0));
    context.set_output(1, ElementType::f32, Shape{});
    context.set_output(2, ElementType::u8, Shape{});
}

void dynamic_quantize_reference(const ReferenceContext& context) {
    std::vector<double> x = doubles_of(context.in(0));
    double low = 0;
    double high = 0;
    for (double value : x) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    const float scale = static_cast<float>(high - low) / 255;
    // A constant zero input has no scale of its own.
    const double divisor = scale == 0 ? 1 : scale;
    const double zero = std::clamp(rounded_quotient(-low, divisor), 0.0, 255.0);
    for (double& value : x) value = std::clamp(rounded_quotient(value, divisor) + zero, 0.0, 255.0);
    if (context.wants(0)) store_doubles(x, context.out(0));
    if (context.wants(1)) context.out(1).set(0, scale);
    if (context.wants(2)) context.out(2).set(0, zero);
}

}  // namespace

ScaleMap ScaleMap::of(const Attributes& attributes, const Shape& x, const Shape& scale) {
    if (scale.elements() == 1 && scale.rank() <= 1) return {};
    const auto axis = static_cast<size_t>(axis_of(attributes, 1, x.rank()));
    const int64_t inner = x.elements(axis + 1, x.rank());
    if (scale == Shape{x[axis]}) return {inner, x[axis], x[axis], 1, false};
    const int64_t block = attributes.integer("block_size", 0);
    Shape blocks = x;
    if (block > 0) blocks[axis] = ceil_div(x[axis], block);
    if (block <= 0 || scale != blocks)
        throw UserError("a scale of " + scale.text() + " does not fit an input of " + x.text());
    return {inner, x[axis], blocks[axis], block, true};
}

IntegerRange integer_range(ElementType type) {
    switch (type) {
        case ElementType::u8:
            return {0, 255};
        case ElementType::i8:
            return {-128, 127};
        case ElementType::u16:
            return {0, 65535};
        case ElementType::i16:
            return {-32768, 32767};
        default:
            throw Unsupported("element type " + std::string(to_string(type)) + " is not handled");
    }
}

std::vector<AttributeDoc> quantize_attributes() {
    return {{"axis", "int", "1", "the axis of scales and zero points, where there are several"},
            {"block_size", "int", "0", "elements on that axis that share a scale (opset 21)"},
            {"saturate", "int", "1", "only read for 8-bit floats, which are not supported"},
            {"output_dtype", "int", "0", "element type of the output where there is no zero point (opset 21)"}};
}

const Op quantize_linear_op{{
    .name = "QuantizeLinear",
    .since = {10, 13, 19, 21},
    .inputs = {2, 3},
    .types = float_types | TypeSet{ElementType::i32},
    .attributes = quantize_attributes(),
    .infer = infer_quantize,
    .reference = quantize_reference,
    .help = "x / scale, rounded to nearest even, plus the zero point, saturated.",
}};

const Op dequantize_linear_op{{
    .name = "DequantizeLinear",
    .since = {10, 13, 19, 21},
    .inputs = {2, 3},
    .types = quantized_types,
    .attributes = quantize_attributes(),
    .infer = infer_dequantize,
    .reference = dequantize_reference,
    .help = "(x - zero point) * scale.",
}};

const Op dynamic_quantize_linear_op{{
    .name = "DynamicQuantizeLinear",
    .since = {11},
    .outputs = {3, 3},
    .types = {ElementType::f32},
    .infer = infer_dynamic_quantize,
    .reference = dynamic_quantize_reference,
    .help = "The input as u8, with the scale and zero point that its range (with 0) needs.",
}};

}  // namespace headway
