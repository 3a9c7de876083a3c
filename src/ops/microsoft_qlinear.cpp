// Elementwise operators on 8-bit integers with one scale and zero point each, as ONNX Runtime's quantiser writes them:
// what they stand for is computed in double and quantised again.
#include <cmath>
#include <functional>

#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/quantize.h"

namespace headway {
namespace {

constexpr TypeSet qlinear_types{ElementType::i8, ElementType::u8};

// X, its scale and zero point, and those of Y.
void infer_qlinear_unary(InferContext& context) {
    LinearScale::check(context, context.type(0), 1, 2);
    LinearScale::check(context, context.type(0), 3, 4);
    infer_same(context);
}

template <class F>
void qlinear_unary(const ReferenceContext& context, F&& f) {
    std::vector<double> values = LinearScale::of(context, 1, 2).dequantized(context.in(0));
    for (double& value : values) value = f(value);
    LinearScale::of(context, 3, 4).store(values, context.out(0));
}

// A and B with scale and zero point each, then those of the output.
void infer_qlinear_binary(InferContext& context) {
    if (!context.has(3)) throw UserError("input 3 is missing");
    if (context.type(3) != context.type(0)) throw UserError("its operands have different types");
    for (size_t scale : {1, 4, 6}) LinearScale::check(context, context.type(0), scale, scale + 1);
    context.set_output(0, context.type(0), broadcast(context.shape(0), context.shape(3)));
}

template <class F>
std::function<void(const ReferenceContext&)> qlinear_binary(F f) {
    return [f](const ReferenceContext& context) {
        const std::vector<double> a = LinearScale::of(context, 1, 2).dequantized(context.in(0));
        const std::vector<double> b = LinearScale::of(context, 4, 5).dequantized(context.in(3));
        const Shape& shape = context.out(0).shape();
        std::vector<double> y = zeros(shape.elements());
        StridedLoop<3>(shape, {broadcast_strides(context.in(0).shape(), shape),
                               broadcast_strides(context.in(3).shape(), shape), shape.strides()})
            .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
                for (int64_t i = 0; i < count; ++i)
                    y[static_cast<size_t>(offsets[2] + i * steps[2])] =
                        f(a[static_cast<size_t>(offsets[0] + i * steps[0])],
                          b[static_cast<size_t>(offsets[1] + i * steps[1])]);
            });
        LinearScale::of(context, 6, 7).store(y, context.out(0));
    };
}

// The condition, then X and Y with scale and zero point each, then those of the output.
void infer_qlinear_where(InferContext& context) {
    const ElementType type = context.type(1);
    if (!qlinear_types.contains(type) || context.type(4) != type)
        throw UserError("its operands are not of one 8-bit type");
    for (size_t scale : {2, 5, 7}) LinearScale::check(context, type, scale, scale + 1);
    context.set_output(0, type, broadcast(broadcast(context.shape(0), context.shape(1)), context.shape(4)));
}

void qlinear_where_reference(const ReferenceContext& context) {
    const std::vector<double> x = LinearScale::of(context, 2, 3).dequantized(context.in(1));
    const std::vector<double> y = LinearScale::of(context, 5, 6).dequantized(context.in(4));
    const auto* condition = stored<uint8_t>(context.in(0));
    const Shape& shape = context.out(0).shape();
    std::vector<double> chosen = zeros(shape.elements());
    StridedLoop<4>(shape,
                   {broadcast_strides(context.in(0).shape(), shape), broadcast_strides(context.in(1).shape(), shape),
                    broadcast_strides(context.in(4).shape(), shape), shape.strides()})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i)
                chosen[static_cast<size_t>(offsets[3] + i * steps[3])] =
                    condition[offsets[0] + i * steps[0]] != 0 ? x[static_cast<size_t>(offsets[1] + i * steps[1])]
                                                              : y[static_cast<size_t>(offsets[2] + i * steps[2])];
        });
    LinearScale::of(context, 7, 8).store(chosen, context.out(0));
}

}  // namespace

const Op qlinear_add_op{{
    .name = "QLinearAdd",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 8},
    .types = qlinear_types,
    .infer = infer_qlinear_binary,
    .reference = qlinear_binary(std::plus{}),
    .help = "Add of quantised tensors with broadcasting, quantised again.",
}};

const Op qlinear_mul_op{{
    .name = "QLinearMul",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 8},
    .types = qlinear_types,
    .infer = infer_qlinear_binary,
    .reference = qlinear_binary(std::multiplies{}),
    .help = "Mul of quantised tensors with broadcasting, quantised again.",
}};

const Op qlinear_sigmoid_op{{
    .name = "QLinearSigmoid",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 5},
    .types = qlinear_types,
    .infer = infer_qlinear_unary,
    .reference =
        [](const ReferenceContext& context) {
            qlinear_unary(context, [](double x) { return 1 / (1 + std::exp(-x)); });
        },
    .help = "Sigmoid of a quantised tensor, quantised again.",
}};

const Op qlinear_leaky_relu_op{{
    .name = "QLinearLeakyRelu",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 5},
    .types = qlinear_types,
    .attributes = {{"alpha", "float", "0.01", "slope below zero"}},
    .infer = infer_qlinear_unary,
    .reference =
        [](const ReferenceContext& context) {
            const double alpha = context.attributes.real("alpha", 0.01F);
            qlinear_unary(context, [alpha](double x) { return x < 0 ? alpha * x : x; });
        },
    .help = "LeakyRelu of a quantised tensor, quantised again.",
}};

const Op qlinear_where_op{{
    .name = "QLinearWhere",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {9, 9},
    .types = boolean_type,
    .infer = infer_qlinear_where,
    .reference = qlinear_where_reference,
    .help = "Where of quantised tensors with broadcasting, quantised again.",
}};

}  // namespace headway
