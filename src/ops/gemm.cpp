#include "ops/gemm.h"

#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"

namespace headway {
namespace {

std::vector<double> gemm_operand(std::vector<double> values, bool transposed, int64_t rows, int64_t columns) {
    if (!transposed) return values;
    std::vector<double> turned(values.size());
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
            turned[static_cast<size_t>(row * columns + column)] = values[static_cast<size_t>(column * rows + row)];
    return turned;
}

}  // namespace

GemmShapes GemmShapes::of(const Attributes& attributes, const Shape& a, const Shape& b) {
    if (a.rank() != 2 || b.rank() != 2) throw UserError("its operands must be matrices");
    const bool turn_a = attributes.integer("transA", 0) != 0;
    const bool turn_b = attributes.integer("transB", 0) != 0;
    if (a[turn_a ? 0 : 1] != b[turn_b ? 1 : 0])
        throw UserError("operands of " + a.text() + (turn_a ? " (transposed)" : "") + " and " + b.text() +
                        (turn_b ? " (transposed)" : "") + " cannot be multiplied");
    return {a[turn_a ? 1 : 0], b[turn_b ? 0 : 1], a[turn_a ? 0 : 1], turn_a, turn_b};
}

void GemmShapes::require_fitting_c(const Shape& c) const {
    if (broadcast(c, output()) != output())
        throw UserError("C of " + c.text() + " does not broadcast to " + output().text());
}

std::vector<double> multiply_gemm(const GemmShapes& shapes, std::vector<double> a, std::vector<double> b) {
    const std::vector<double> left = gemm_operand(std::move(a), shapes.transposed_a, shapes.rows, shapes.inner);
    const std::vector<double> right = gemm_operand(std::move(b), shapes.transposed_b, shapes.inner, shapes.columns);
    std::vector<double> y = zeros(shapes.output().elements());
    multiply(left.data(), right.data(), y.data(), shapes.rows, shapes.columns, shapes.inner);
    return y;
}

void add_gemm_c(const GemmShapes& shapes, const Tensor& tensor, double factor, std::vector<double>& y) {
    const std::vector<double> c = doubles_of(tensor);
    StridedLoop<2>(shapes.output(), {broadcast_strides(tensor.shape(), shapes.output()), shapes.output().strides()})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i)
                y[static_cast<size_t>(offsets[1] + i * steps[1])] +=
                    factor * c[static_cast<size_t>(offsets[0] + i * steps[0])];
        });
}

void infer_gemm(InferContext& context) {
    require_same_types(context);
    const GemmShapes shapes = GemmShapes::of(context.attributes(), context.shape(0), context.shape(1));
    if (context.has(2)) shapes.require_fitting_c(context.shape(2));
    context.set_output(0, context.type(0), shapes.output());
}

std::vector<double> gemm(const ReferenceContext& context) {
    const GemmShapes shapes = GemmShapes::of(context.attributes, context.in(0).shape(), context.in(1).shape());
    std::vector<double> y = multiply_gemm(shapes, doubles_of(context.in(0)), doubles_of(context.in(1)));
    const double alpha = context.attributes.real("alpha", 1.0F);
    for (double& value : y) value *= alpha;
    if (context.has(2)) add_gemm_c(shapes, context.in(2), context.attributes.real("beta", 1.0F), y);
    return y;
}

std::vector<AttributeDoc> gemm_attributes() {
    return {{"alpha", "float", "1.0", "scale of the product"},
            {"beta", "float", "1.0", "scale of C"},
            {"transA", "int", "0", "1: A is transposed"},
            {"transB", "int", "0", "1: B is transposed"}};
}

const Op gemm_op{{
    .name = "Gemm",
    .since = {1, 6, 7, 9, 11, 13},
    .inputs = {2, 3},
    .types = float_types | TypeSet{ElementType::i32, ElementType::i64, ElementType::u32, ElementType::u64},
    .attributes = gemm_attributes(),
    .infer = infer_gemm,
    .reference = [](const ReferenceContext& context) { store_doubles(gemm(context), context.out(0)); },
    .help = "alpha * A * B + beta * C on matrices.",
}};

}  // namespace headway
