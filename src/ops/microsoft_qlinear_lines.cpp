// Operators along an axis of 8-bit integers with one scale and zero point each, as ONNX Runtime's quantiser writes
// them.
#include "ops/concat.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/quantize.h"
#include "ops/softmax.h"

namespace headway {
namespace {

constexpr TypeSet qlinear_byte_types{ElementType::i8, ElementType::u8};

// Attribute opset says which Softmax is meant.
Lines qlinear_softmax_lines(const Attributes& attributes, const Shape& shape) {
    const int64_t version = attributes.integer("opset", 13);
    if (version < 1 || version > 1000) throw UserError("attribute opset is out of range");
    return softmax_lines(attributes, static_cast<int>(version), shape);
}

void infer_qlinear_softmax(InferContext& context) {
    qlinear_softmax_lines(context.attributes(), context.shape(0));
    LinearScale::check(context, context.type(0), 1, 2);
    LinearScale::check(context, context.type(0), 3, 4);
    infer_same(context);
}

void qlinear_softmax_reference(const ReferenceContext& context) {
    std::vector<double> values = LinearScale::of(context, 1, 2).dequantized(context.in(0));
    change_lines(values, qlinear_softmax_lines(context.attributes, context.in(0).shape()), softmax_line);
    LinearScale::of(context, 3, 4).store(values, context.out(0));
}

// The output's scale and zero point, then three inputs for each tensor.
constexpr size_t qlinear_first_tensor = 2;

void infer_qlinear_concat(InferContext& context) {
    if (context.input_count() % 3 != 2) throw UserError("its tensors have not one scale and zero point each");
    const ElementType type = context.type(1);
    if (!qlinear_byte_types.contains(type)) throw UserError("its zero point is not of an 8-bit type");
    LinearScale::check(context, type, 0, 1);
    std::vector<Shape> shapes;
    for (size_t i = qlinear_first_tensor; i < context.input_count(); i += 3) {
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
        if (context.type(i) != type) throw UserError("its inputs have different types");
        LinearScale::check(context, type, i + 1, i + 2);
        shapes.push_back(context.shape(i));
    }
    context.set_output(0, type, concat_shape(context.attributes(), shapes));
}

void qlinear_concat_reference(const ReferenceContext& context) {
    const LinearScale to = LinearScale::of(context, 0, 1);
    std::vector<Tensor> parts;
    for (size_t i = qlinear_first_tensor; i < context.inputs.size(); i += 3) {
        parts.emplace_back(context.out(0).type(), context.in(i).shape());
        to.store(LinearScale::of(context, i + 1, i + 2).dequantized(context.in(i)), parts.back());
    }
    std::vector<const Tensor*> pointers;
    for (const Tensor& part : parts) pointers.push_back(&part);
    concatenate(context.attributes, pointers, context.out(0));
}

}  // namespace

const Op qlinear_softmax_op{{
    .name = "QLinearSoftmax",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 5},
    .types = qlinear_byte_types,
    .attributes = {{"axis", "int", "-1",
                    "the axis of a line; before opset 13 (default 1) all axes from it on make one"},
                   {"opset", "int", "13", "the opset version of the Softmax that is meant"}},
    .infer = infer_qlinear_softmax,
    .reference = qlinear_softmax_reference,
    .help = "Softmax of a quantised tensor, quantised again.",
}};

const Op qlinear_concat_op{{
    .name = "QLinearConcat",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {5, any_number},
    .types = {ElementType::f32},
    .attributes = {{"axis", "int", "", "the axis along which the inputs follow each other"}},
    .infer = infer_qlinear_concat,
    .reference = qlinear_concat_reference,
    .help = "Concat of quantised tensors, brought to one scale and zero point.",
}};

}  // namespace headway
