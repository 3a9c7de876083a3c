#include <algorithm>

#include "ops/arguments.h"

namespace headway {
namespace {

void infer_eye_like(InferContext& context) {
    if (context.shape(0).rank() != 2) throw UserError("its input is no matrix");
    const auto type =
        static_cast<ElementType>(context.attributes().integer("dtype", static_cast<int64_t>(context.type(0))));
    if (static_cast<int64_t>(type) > 31 || !fixed_size_types.contains(type))
        throw Unsupported("element type is not handled");
    context.set_output(0, type, context.shape(0));
}

void eye_like_reference(const ReferenceContext& context) {
    Tensor& y = context.out(0);
    const int64_t rows = y.shape()[0];
    const int64_t columns = y.shape()[1];
    const int64_t diagonal = std::clamp(context.attributes.integer("k", 0), -rows, columns);
    for (int64_t row = std::max<int64_t>(0, -diagonal); row < rows && row + diagonal < columns; ++row)
        y.set(row * columns + row + diagonal, 1);
}

}  // namespace

const Op eye_like_op{{
    .name = "EyeLike",
    .since = {9, 22},
    .types = fixed_size_types,
    .attributes = {{"dtype", "int", "as the input", "element type of the output"},
                   {"k", "int", "0", "which diagonal holds the ones"}},
    .infer = infer_eye_like,
    .reference = eye_like_reference,
    .help = "Ones on a diagonal, zero elsewhere, in the shape of the input.",
}};

}  // namespace headway
