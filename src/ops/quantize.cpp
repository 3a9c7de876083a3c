#include "ops/quantize.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "tensor/narrow.h"

namespace headway {
namespace {

constexpr TypeSet quantized_types =
    TypeSet{ElementType::u8, ElementType::i8, ElementType::u16, ElementType::i16, ElementType::f4e2m1} |
    narrow_integer_types | float8_types;
constexpr TypeSet quantize_scale_types = float_types | TypeSet{ElementType::i32, ElementType::f8e8m0};

// The type that an attribute names by its number; undefined where it is absent.
ElementType quantize_named_type(const Attributes& attributes, const char* name, TypeSet allowed) {
    const int64_t number = attributes.integer(name, 0);
    if (number == 0) return ElementType::undefined;
    const auto type = number > 0 && number < 32 ? static_cast<ElementType>(number) : ElementType::undefined;
    if (!allowed.contains(type))
        throw Unsupported("element type number " + std::to_string(number) + " is not handled as its " + name);
    return type;
}

ElementType quantized_type(const InferContext& context) {
    const ElementType named = quantize_named_type(context.attributes(), "output_dtype", quantized_types);
    if (!context.has(2)) return named == ElementType::undefined ? ElementType::u8 : named;
    if (named != ElementType::undefined && named != context.type(2))
        throw UserError("its zero point is not of its output type");
    return context.type(2);
}

// Scales of all three kinds. What zero points of floating point other than 0 mean ONNX says in two ways.
void check_quantize_scales(const InferContext& context) {
    if (!quantize_scale_types.contains(context.type(1)))
        throw Unsupported("a scale of type " + std::string(to_string(context.type(1))) + " is not handled");
    ScaleMap::of(context.attributes(), context.shape(0), context.shape(1));
    const Tensor* zero = context.constant(2);
    if (zero == nullptr || !is_float(zero->type())) return;
    for (int64_t i = 0; i < zero->elements(); ++i)
        if (zero->at(i) != 0) throw Unsupported("a zero point of floating point is only handled where it is 0");
}

// ONNX divides in a type: by default the scale's from opset 23. Before that ONNX Runtime decides: f32. Powers of two
// divide alike in both.
ElementType quantize_division_type(const Attributes& attributes, int version, ElementType scale) {
    const ElementType named = quantize_named_type(attributes, "precision", float_types);
    if (named != ElementType::undefined) return named;
    return version >= 23 && float_types.contains(scale) ? scale : ElementType::f32;
}

// One scale may be a scalar and its zero point a vector, as in ONNX's cases, or the other way.
bool zero_fits(const Shape& zero, const Shape& scale) {
    return zero == scale || (zero.elements() == 1 && scale.elements() == 1 && zero.rank() <= 1 && scale.rank() <= 1);
}

double quantize_rounded_to(ElementType type, double value) {
    return visit_float(type, [&]<class E>(E) { return static_cast<double>(E::load(E::store(value))); });
}

// The quotient as f32, since ONNX rounds that one: in double, ties would fall otherwise.
double rounded_quotient(double x, double scale) { return std::nearbyint(static_cast<float>(x / scale)); }

void infer_quantize(InferContext& context) {
    check_quantize_scales(context);
    const ElementType type = quantized_type(context);
    if (!quantized_types.contains(type)) throw Unsupported("its output type is not handled");
    quantize_division_type(context.attributes(), context.version(), context.type(1));  // refuses an unknown one
    if (context.has(2) && !zero_fits(context.shape(2), context.shape(1)))
        throw UserError("its scale and zero point differ in shape");
    context.set_output(0, type, context.shape(0));
}

void quantize_reference(const ReferenceContext& context) {
    const ScaleMap map = ScaleMap::of(context.attributes, context.in(0).shape(), context.in(1).shape());
    const ElementType type = context.out(0).type();
    const ElementType division = quantize_division_type(context.attributes, context.version, context.in(1).type());
    const IntegerRange range = is_float(type) ? IntegerRange{} : integer_range(type);
    const NarrowRounding rounding{.saturate = context.attributes.integer("saturate", 1) != 0};
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = doubles_of(context.in(1));
    const std::vector<double> zero = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>(scale.size(), 0);
    for (size_t i = 0; i < x.size(); ++i) {
        const auto k = static_cast<size_t>(map.at(static_cast<int64_t>(i)));
        const double quotient = quantize_rounded_to(
            division, quantize_rounded_to(division, x[i]) / quantize_rounded_to(division, scale[k]));
        if (is_float(type))
            stored<uint8_t>(context.out(0))[i] = double_to_narrow(type, quotient, rounding);
        else
            x[i] = std::clamp(std::nearbyint(quotient) + zero[k], range.low, range.high);
    }
    if (!is_float(type)) store_doubles(x, context.out(0));
}

void infer_dequantize(InferContext& context) {
    check_quantize_scales(context);
    if (context.has(2) && (!zero_fits(context.shape(2), context.shape(1)) || context.type(2) != context.type(0)))
        throw UserError("its zero point does not fit its scale or its input");
    const ElementType named = quantize_named_type(context.attributes(), "output_dtype", float_types);
    const ElementType type = named == ElementType::undefined ? context.type(1) : named;
    if (!float_types.contains(type)) throw Unsupported("its output type is not handled");
    context.set_output(0, type, context.shape(0));
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
    const DynamicRange range = DynamicRange::of(x);
    for (double& value : x) value = range.quantized(value);
    if (context.wants(0)) store_doubles(x, context.out(0));
    if (context.wants(1)) context.out(1).set(0, range.scale);
    if (context.wants(2)) context.out(2).set(0, range.zero);
}

const AttributeDoc quantize_axis_doc{"axis", "int", "1", "the axis of scales and zero points, where there are several"};
const AttributeDoc quantize_block_doc{"block_size", "int", "0", "elements on that axis that share a scale (opset 21)"};

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
        case ElementType::u4:
            return {0, 15};
        case ElementType::i4:
            return {-8, 7};
        case ElementType::u2:
            return {0, 3};
        case ElementType::i2:
            return {-2, 1};
        default:
            throw Unsupported("element type " + std::string(to_string(type)) + " is not handled");
    }
}

double saturated(double quotient, double zero, const IntegerRange& range) {
    return std::clamp(std::nearbyint(static_cast<float>(quotient)) + zero, range.low, range.high);
}

void LinearScale::check(const InferContext& context, ElementType type, size_t scale_input, size_t zero_input) {
    if (!context.has(scale_input)) throw UserError("input " + std::to_string(scale_input) + " is missing");
    if (context.type(scale_input) != ElementType::f32 || context.shape(scale_input).elements() != 1)
        throw UserError("input " + std::to_string(scale_input) + " is not one scale of f32");
    if (context.has(zero_input) && (context.type(zero_input) != type || context.shape(zero_input).elements() != 1))
        throw UserError("input " + std::to_string(zero_input) + " is not one zero point of " +
                        std::string(to_string(type)));
}

LinearScale LinearScale::of(const ReferenceContext& context, size_t scale_input, size_t zero_input) {
    return {context.in(scale_input).at(0), context.has(zero_input) ? context.in(zero_input).at(0) : 0};
}

std::vector<double> LinearScale::dequantized(const Tensor& tensor) const {
    std::vector<double> values = doubles_of(tensor);
    for (double& value : values) value = (value - zero) * scale;
    return values;
}

void LinearScale::store(const std::vector<double>& values, Tensor& tensor) const {
    const IntegerRange range = integer_range(tensor.type());
    std::vector<double> integers(values.size());
    for (size_t i = 0; i < values.size(); ++i) integers[i] = saturated(values[i] / scale, zero, range);
    store_doubles(integers, tensor);
}

DynamicRange DynamicRange::of(std::span<const double> values) {
    double low = 0;
    double high = 0;
    for (double value : values) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    const float scale = static_cast<float>(high - low) / 255;
    // Values of zero alone have no scale of their own.
    const double divisor = scale == 0 ? 1 : scale;
    return {scale, std::clamp(rounded_quotient(-low, divisor), 0.0, 255.0)};
}

double DynamicRange::quantized(double value) const {
    return std::clamp(rounded_quotient(value, scale == 0 ? 1 : scale) + zero, 0.0, 255.0);
}

const Op quantize_linear_op{{
    .name = "QuantizeLinear",
    .since = {10, 13, 19, 21, 23, 24, 25},
    .inputs = {2, 3},
    .types = float_types | TypeSet{ElementType::i32},
    .attributes = {quantize_axis_doc,
                   quantize_block_doc,
                   {"saturate", "int", "1", "0: what an 8-bit float cannot hold becomes infinity or NaN"},
                   {"output_dtype", "int", "0", "element type of the output where there is no zero point (opset 21)"},
                   {"precision", "int", "0", "element type in which is divided, by default the scale's (opset 23)"}},
    .infer = infer_quantize,
    .reference = quantize_reference,
    .help = "x / scale, rounded to nearest even, plus the zero point, saturated. To 8- and 4-bit floats without a zero "
            "point.",
}};

const Op dequantize_linear_op{{
    .name = "DequantizeLinear",
    .since = {10, 13, 19, 21, 23, 24, 25},
    .inputs = {2, 3},
    .types = quantized_types | TypeSet{ElementType::i32},
    .attributes = {quantize_axis_doc,
                   quantize_block_doc,
                   {"output_dtype", "int", "0", "element type of the output, by default the scale's (opset 23)"}},
    .infer = infer_dequantize,
    .reference = dequantize_reference,
    .help = "(x - zero point) * scale.",
}};

// ONNX Runtime's own forms, from the time when ONNX had fewer types: the same by scale, zero point and axis.
const Op microsoft_quantize_linear_op{{
    .name = "QuantizeLinear",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 3},
    .types = {ElementType::f32, ElementType::f16},
    .attributes = {quantize_axis_doc},
    .infer = infer_quantize,
    .reference = quantize_reference,
    .help = "QuantizeLinear.",
}};

const Op microsoft_dequantize_linear_op{{
    .name = "DequantizeLinear",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 3},
    .types = quantized_types | TypeSet{ElementType::i32},
    .attributes = {quantize_axis_doc},
    .infer = infer_dequantize,
    .reference = dequantize_reference,
    .help = "DequantizeLinear.",
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
