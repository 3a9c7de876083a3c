#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"

namespace headway {
namespace {

Shape oriented(const Shape& shape, bool transposed) { return transposed ? Shape{shape[1], shape[0]} : shape; }

void infer_gemm(InferContext& context) {
    require_same_types(context);
    if (context.shape(0).rank() != 2 || context.shape(1).rank() != 2) throw UserError("its operands must be matrices");
    const Shape a = oriented(context.shape(0), context.attributes().integer("transA", 0) != 0);
    const Shape b = oriented(context.shape(1), context.attributes().integer("transB", 0) != 0);
    if (a[1] != b[0]) throw UserError("operands of " + a.text() + " and " + b.text() + " cannot be multiplied");
    const Shape y{a[0], b[1]};
    if (context.has(2) && broadcast(context.shape(2), y) != y)
        throw UserError("C of " + context.shape(2).text() + " does not broadcast to " + y.text());
    context.set_output(0, context.type(0), y);
}

std::vector<double> gemm_operand(const Tensor& tensor, bool transposed) {
    const std::vector<double> values = doubles_of(tensor);
    if (!transposed) return values;
    const auto rows = static_cast<size_t>(tensor.shape()[0]);
    const auto columns = static_cast<size_t>(tensor.shape()[1]);
    std::vector<double> turned(values.size());
    for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column)
            turned[column * rows + row] = values[row * columns + column];
    return turned;
}

void gemm_reference(const ReferenceContext& context) {
    const bool turn_a = context.attributes.integer("transA", 0) != 0;
    const std::vector<double> a = gemm_operand(context.in(0), turn_a);
    const std::vector<double> b = gemm_operand(context.in(1), context.attributes.integer("transB", 0) != 0);
    const Shape& shape = context.out(0).shape();
    std::vector<double> y(static_cast<size_t>(shape.elements()));
    multiply(a.data(), b.data(), y.data(), shape[0], shape[1], oriented(context.in(0).shape(), turn_a)[1]);
    const double alpha = context.attributes.real("alpha", 1.0F);
    for (double& value : y) value *= alpha;
    if (context.has(2)) {
        const double beta = context.attributes.real("beta", 1.0F);
        const std::vector<double> c = doubles_of(context.in(2));
        StridedLoop<2>(shape, {broadcast_strides(context.in(2).shape(), shape), shape.strides()})
            .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
                for (int64_t i = 0; i < count; ++i)
                    y[static_cast<size_t>(offsets[1] + i * steps[1])] +=
                        beta * c[static_cast<size_t>(offsets[0] + i * steps[0])];
            });
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op gemm_op{{
    .name = "Gemm",
    .since = {7, 9, 11, 13},
    .inputs = {2, 3},
    .types = float_types | TypeSet{ElementType::i32, ElementType::i64, ElementType::u32, ElementType::u64},
    .attributes = {{"alpha", "float", "1.0", "scale of the product"},
                   {"beta", "float", "1.0", "scale of C"},
                   {"transA", "int", "0", "1: A is transposed"},
                   {"transB", "int", "0", "1: B is transposed"}},
    .infer = infer_gemm,
    .reference = gemm_reference,
    .help = "alpha * A * B + beta * C on matrices.",
}};

}  // namespace headway
