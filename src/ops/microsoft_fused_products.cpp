// Products that ONNX Runtime's optimiser has joined with what stood around them.
#include <algorithm>
#include <numeric>

#include "ops/conv.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/gemm.h"
#include "ops/matmul.h"
#include "ops/recurrent.h"

namespace headway {
namespace {

// Axes of an operand in the order of a stack of matrices: its first axis stands before the last one where the batch is
// "transposed", and the last two are turned after that.
std::vector<size_t> fused_matmul_axes(const Shape& shape, bool turned, bool batch_turned) {
    std::vector<size_t> axes(shape.rank());
    std::iota(axes.begin(), axes.end(), size_t{0});
    if (axes.size() < 2) return axes;
    if (batch_turned) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
    if (turned) std::swap(axes[axes.size() - 2], axes.back());
    return axes;
}

Shape permuted(const Shape& shape, const std::vector<size_t>& axes) {
    std::vector<int64_t> dims;
    for (const size_t axis : axes) dims.push_back(shape[axis]);
    return Shape(std::move(dims));
}

struct FusedMatmulForm {
    std::vector<size_t> a_axes, b_axes;
    MatmulShapes shapes;

    static FusedMatmulForm of(const Attributes& attributes, const Shape& a, const Shape& b) {
        const auto flag = [&](const char* name) { return attributes.integer(name, 0) != 0; };
        std::vector<size_t> a_axes = fused_matmul_axes(a, flag("transA"), flag("transBatchA"));
        std::vector<size_t> b_axes = fused_matmul_axes(b, flag("transB"), flag("transBatchB"));
        MatmulShapes shapes = matmul_shapes(permuted(a, a_axes), permuted(b, b_axes));
        return {std::move(a_axes), std::move(b_axes), std::move(shapes)};
    }
};

std::vector<double> permuted_doubles(const Tensor& tensor, const std::vector<size_t>& axes) {
    const Strides strides = tensor.shape().strides();
    Strides turned;
    for (const size_t axis : axes) turned.push_back(strides[axis]);
    const Shape shape = permuted(tensor.shape(), axes);
    Tensor moved(tensor.type(), shape);
    strided_copy(tensor, 0, turned, moved, 0, shape.strides(), shape);
    return doubles_of(moved);
}

void infer_fused_matmul(InferContext& context) {
    require_same_types(context);
    const FusedMatmulForm form = FusedMatmulForm::of(context.attributes(), context.shape(0), context.shape(1));
    context.set_output(0, context.type(0), form.shapes.output());
}

void fused_matmul_reference(const ReferenceContext& context) {
    const FusedMatmulForm form = FusedMatmulForm::of(context.attributes, context.in(0).shape(), context.in(1).shape());
    std::vector<double> y = multiply_matrices(form.shapes, permuted_doubles(context.in(0), form.a_axes),
                                              permuted_doubles(context.in(1), form.b_axes));
    const double alpha = context.attributes.real("alpha", 1.0F);
    for (double& value : y) value *= alpha;
    store_doubles(y, context.out(0));
}

// What attribute activation names, with its parameters; x itself where there is none.
Activation fused_activation(const Attributes& attributes, std::optional<double> alpha, std::optional<double> beta) {
    const std::string name = attributes.text("activation", "");
    if (name.empty()) return [](double x) { return x; };
    if (name != "Clip") return activation_of(name, alpha, beta);
    if (!alpha || !beta || *alpha > *beta) throw UserError("a Clip without two limits in order");
    return [low = *alpha, high = *beta](double x) { return x < low ? low : x > high ? high : x; };
}

Activation fused_conv_activation(const Attributes& attributes) {
    const std::vector<float> parameters = attributes.reals("activation_params");
    const auto parameter = [&](size_t k) {
        return k < parameters.size() ? std::optional<double>(parameters[k]) : std::nullopt;
    };
    return fused_activation(attributes, parameter(0), parameter(1));
}

void infer_fused_conv(InferContext& context) {
    require_same_types(context);
    Shape y = conv_shape(context.attributes(), context.shape(0), context.shape(1));
    if (context.has(2) && context.shape(2) != Shape{y[1]})
        throw UserError("its bias does not have one entry per output channel");
    if (context.has(3) && context.shape(3) != y)
        throw UserError("what is added has shape " + context.shape(3).text() + " instead of " + y.text());
    fused_conv_activation(context.attributes());  // refuses an unknown one
    context.set_output(0, context.type(0), std::move(y));
}

void fused_conv_reference(const ReferenceContext& context) {
    const std::vector<double> bias = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>{};
    std::vector<double> y = convolve(context.attributes, {context.in(0).shape(), doubles_of(context.in(0))},
                                     {context.in(1).shape(), doubles_of(context.in(1))}, bias);
    if (context.has(3)) {
        const std::vector<double> added = doubles_of(context.in(3));
        for (size_t i = 0; i < y.size(); ++i) y[i] += added[i];
    }
    std::ranges::transform(y, y.begin(), fused_conv_activation(context.attributes));
    store_doubles(y, context.out(0));
}

Activation fused_gemm_activation(const Attributes& attributes) {
    const auto parameter = [&](const char* name) {
        return attributes.has(name) ? std::optional<double>(attributes.real(name, 0)) : std::nullopt;
    };
    return fused_activation(attributes, parameter("activation_alpha"), parameter("activation_beta"));
}

void fused_gemm_reference(const ReferenceContext& context) {
    std::vector<double> y = gemm(context);
    std::ranges::transform(y, y.begin(), fused_gemm_activation(context.attributes));
    store_doubles(y, context.out(0));
}

const AttributeDoc fused_activation_doc{"activation", "string", "",
                                        "Relu, Tanh, Sigmoid, LeakyRelu, HardSigmoid, Clip or another name that "
                                        "ONNX's recurrent operators know"};

std::vector<AttributeDoc> fused_conv_attributes() {
    std::vector<AttributeDoc> docs = conv_attributes();
    docs.insert(docs.begin(), {fused_activation_doc,
                               {"activation_params", "floats", "", "its alpha and beta, or the limits of Clip"}});
    return docs;
}

std::vector<AttributeDoc> fused_gemm_attributes() {
    std::vector<AttributeDoc> docs = gemm_attributes();
    docs.insert(docs.begin(), {fused_activation_doc,
                               {"activation_alpha", "float", "", "first parameter of the activation"},
                               {"activation_beta", "float", "", "second parameter of the activation"}});
    return docs;
}

const AttributeDoc fused_alpha_doc{"alpha", "float", "1.0", "scale of the product"};
const AttributeDoc fused_turn_a_doc{"transA", "int", "0", "1: the last two axes of A are turned"};
const AttributeDoc fused_turn_b_doc{"transB", "int", "0", "1: the last two axes of B are turned"};

}  // namespace

const Op fused_matmul_op{{
    .name = "FusedMatMul",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = {fused_alpha_doc,
                   fused_turn_a_doc,
                   fused_turn_b_doc,
                   {"transBatchA", "int", "0", "1: the first axis of A belongs before its last one"},
                   {"transBatchB", "int", "0", "1: the first axis of B belongs before its last one"}},
    .infer = infer_fused_matmul,
    .reference = fused_matmul_reference,
    .help = "MatMul of operands whose axes are turned first, scaled.",
}};

const Op transpose_matmul_op{{
    .name = "TransposeMatMul",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = {fused_alpha_doc, fused_turn_a_doc, fused_turn_b_doc},
    .infer = infer_fused_matmul,
    .reference = fused_matmul_reference,
    .help = "FusedMatMul by its old name.",
}};

const Op fused_conv_op{{
    .name = "FusedConv",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 4},
    .types = float_types,
    .attributes = fused_conv_attributes(),
    .infer = infer_fused_conv,
    .reference = fused_conv_reference,
    .help = "Conv, then an addend of the output's shape (input 3), then an activation.",
}};

const Op fused_gemm_op{{
    .name = "FusedGemm",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 3},
    .types = float_types,
    .attributes = fused_gemm_attributes(),
    .infer =
        [](InferContext& context) {
            fused_gemm_activation(context.attributes());  // refuses an unknown one
            infer_gemm(context);
        },
    .reference = fused_gemm_reference,
    .help = "Gemm, then an activation.",
}};

}  // namespace headway
