#include "ops/matmul.h"

#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"

namespace headway {
namespace {

void infer_matmul(InferContext& context) {
    require_same_types(context);
    context.set_output(0, context.type(0), matmul_shapes(context.shape(0), context.shape(1)).output());
}

// Matrix index of each batch entry in a stack of shape `stack`.
Strides stack_strides(const Shape& stack, const Shape& batch) {
    return broadcast_strides(Shape(std::vector<int64_t>(stack.begin(), stack.end() - 2)), batch);
}

// product(a matrix, b matrix, output matrix) for each entry of the batch.
template <class F>
void for_each_matrix(const MatmulShapes& shapes, F&& product) {
    StridedLoop<3>(shapes.batch, {stack_strides(shapes.a, shapes.batch), stack_strides(shapes.b, shapes.batch),
                                  shapes.batch.strides()})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i)
                product(offsets[0] + i * steps[0], offsets[1] + i * steps[1], offsets[2] + i * steps[2]);
        });
}

void float_matmul(const ReferenceContext& context, const MatmulShapes& shapes) {
    store_doubles(multiply_matrices(shapes, doubles_of(context.in(0)), doubles_of(context.in(1))), context.out(0));
}

// Integers wrap, so double will not do.
template <class E>
void integer_matmul(const ReferenceContext& context, const MatmulShapes& shapes) {
    const auto* a = stored<typename E::Storage>(context.in(0));
    const auto* b = stored<typename E::Storage>(context.in(1));
    auto* y = stored<typename E::Storage>(context.out(0));
    for_each_matrix(shapes, [&](int64_t i, int64_t j, int64_t k) {
        const auto* left = a + i * shapes.rows * shapes.inner;
        const auto* right = b + j * shapes.inner * shapes.columns;
        for (int64_t row = 0; row < shapes.rows; ++row)
            for (int64_t column = 0; column < shapes.columns; ++column) {
                uint64_t sum = 0;
                for (int64_t inner = 0; inner < shapes.inner; ++inner)
                    sum += static_cast<uint64_t>(E::load(left[row * shapes.inner + inner])) *
                           static_cast<uint64_t>(E::load(right[inner * shapes.columns + column]));
                y[(k * shapes.rows + row) * shapes.columns + column] = E::store(static_cast<typename E::Compute>(sum));
            }
    });
}

void matmul_reference(const ReferenceContext& context) {
    const MatmulShapes shapes = matmul_shapes(context.in(0).shape(), context.in(1).shape());
    if (is_float(context.in(0).type())) return float_matmul(context, shapes);
    visit_integer(context.in(0).type(), [&]<class E>(E) { integer_matmul<E>(context, shapes); });
}

}  // namespace

MatmulShapes matmul_shapes(Shape a, Shape b) {
    if (a.rank() == 0 || b.rank() == 0) throw UserError("an operand is a scalar");
    const bool left_vector = a.rank() == 1;
    const bool right_vector = b.rank() == 1;
    if (left_vector) a = Shape{1, a[0]};
    if (right_vector) b = Shape{b[0], 1};
    const int64_t inner = a.back();
    if (b[b.rank() - 2] != inner)
        throw UserError("operands of " + a.text() + " and " + b.text() + " cannot be multiplied");
    const Shape batch = broadcast(Shape(std::vector<int64_t>(a.begin(), a.end() - 2)),
                                  Shape(std::vector<int64_t>(b.begin(), b.end() - 2)));
    return {a, b, batch, a[a.rank() - 2], b.back(), inner, left_vector, right_vector};
}

Shape MatmulShapes::output() const {
    std::vector<int64_t> dims = batch.dims();
    if (!left_vector) dims.push_back(rows);
    if (!right_vector) dims.push_back(columns);
    return Shape(std::move(dims));
}

std::vector<double> multiply_matrices(const MatmulShapes& shapes, const std::vector<double>& a,
                                      const std::vector<double>& b) {
    std::vector<double> y = zeros(shapes.output().elements());
    for_each_matrix(shapes, [&](int64_t i, int64_t j, int64_t k) {
        multiply(a.data() + i * shapes.rows * shapes.inner, b.data() + j * shapes.inner * shapes.columns,
                 y.data() + k * shapes.rows * shapes.columns, shapes.rows, shapes.columns, shapes.inner);
    });
    return y;
}

const Op matmul_op{{
    .name = "MatMul",
    .since = {1, 9, 13},
    .inputs = {2, 2},
    .types = number_types,
    .infer = infer_matmul,
    .reference = matmul_reference,
    .help = "Matrix product over the last two axes; leading axes broadcast. Integers wrap.",
}};

}  // namespace headway
