#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/strided.h"
#include "ops/window.h"

namespace headway {
namespace {

// The extents that the pooling had, which indices count in.
Shape unpooled_shape(const Attributes& attributes, const Shape& pooled) {
    const std::vector<int64_t> kernel = kernel_shape(attributes, pooled);
    const std::vector<int64_t> strides = positive_integers(attributes, "strides", kernel.size());
    const std::vector<int64_t> pads = attributes.integers("pads", std::vector<int64_t>(2 * kernel.size(), 0));
    require_length(pads, 2 * kernel.size(), "pads");
    Shape shape = pooled;
    for (size_t i = 0; i < kernel.size(); ++i) {
        if (pads[i] < 0 || pads[kernel.size() + i] < 0) throw UserError("attribute pads holds a negative number");
        if (pooled[i + 2] < 1) throw UserError("its input is empty");
        const int64_t reach =
            checked_add(checked_mul(pooled[i + 2] - 1, strides[i], "an extent"), kernel[i], "an extent");
        shape[i + 2] = reach - checked_add(pads[i], pads[kernel.size() + i], "padding");
        if (shape[i + 2] < 1) throw UserError("its padding leaves nothing");
    }
    return shape;
}

void infer_max_unpool(InferContext& context) {
    if (context.type(1) != ElementType::i64) throw UserError("its indices are not i64");
    if (context.shape(1) != context.shape(0)) throw UserError("its input and indices differ in shape");
    const Shape unpooled = unpooled_shape(context.attributes(), context.shape(0));
    Shape shape = unpooled;
    if (context.has(2)) {
        shape = Shape(context.required_integers(2, "output_shape"));
        require_length(shape.dims(), unpooled.rank(), "output_shape");
        for (size_t axis = 0; axis < shape.rank(); ++axis)
            if (shape[axis] < unpooled[axis])
                throw UserError("an output_shape of " + shape.text() + " does not hold " + unpooled.text());
    }
    context.set_output(0, context.type(0), std::move(shape));
}

void max_unpool_reference(const ReferenceContext& context) {
    const Shape unpooled = unpooled_shape(context.attributes, context.in(0).shape());
    Tensor sparse(context.in(0).type(), unpooled);
    const std::vector<int64_t> indices = context.in(1).to_int64();
    const int64_t most = unpooled.elements();
    visit_size(context.in(0).type(), [&](auto word) {
        const auto* x = stored<decltype(word)>(context.in(0));
        auto* y = stored<decltype(word)>(sparse);
        for (int64_t index : indices) {
            if (index < 0 || index >= most)
                throw UserError("index " + std::to_string(index) + " is outside " + unpooled.text());
            y[index] = *x++;
        }
    });
    strided_copy(sparse, 0, unpooled.strides(), context.out(0), 0, context.out(0).shape().strides(), unpooled);
}

}  // namespace

const Op max_unpool_op{{
    .name = "MaxUnpool",
    .since = {9, 11, 22},
    .inputs = {2, 3},
    .types = float_types,
    .attributes = {{"kernel_shape", "ints", "", "extents of the window of the pooling"},
                   {"pads", "ints", "0", "padding of the pooling at the begin of each axis, then at the end"},
                   {"strides", "ints", "1", "distance of its windows, per axis"}},
    .infer = infer_max_unpool,
    .reference = max_unpool_reference,
    .data_movement = true,
    .help =
        "The elements of a MaxPool where they stood before it, zeros elsewhere; a larger output_shape adds zeros at "
        "the end of the axes.",
}};

}  // namespace headway
