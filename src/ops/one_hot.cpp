#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/rows.h"

namespace headway {
namespace {

int64_t one_hot_axis(const Attributes& attributes, size_t rank) { return axis_of(attributes, -1, rank + 1); }

void infer_one_hot(InferContext& context) {
    const Shape& indices = context.shape(0);
    const int64_t axis = one_hot_axis(context.attributes(), indices.rank());
    const std::vector<int64_t> depth = context.required(1, "depth").to_int64();  // of any number type
    require_length(depth, 1, "depth");
    if (context.shape(2) != Shape{2}) throw UserError("its values are not two elements");
    std::vector<int64_t> dims = indices.dims();
    dims.insert(dims.begin() + axis, depth[0]);
    context.set_output(0, context.type(2), Shape(std::move(dims)));
}

void one_hot_reference(const ReferenceContext& context) {
    const Shape& shape = context.out(0).shape();
    const int64_t axis = one_hot_axis(context.attributes, context.in(0).shape().rank());
    const Lines lines = Lines::along(shape, static_cast<size_t>(axis));
    const std::vector<int64_t> indices = context.in(0).to_int64();
    visit_size(context.in(2).type(), [&](auto word) {
        using Word = decltype(word);
        const Word* values = stored<Word>(context.in(2));
        Word* y = stored<Word>(context.out(0));
        for (int64_t i = 0; i < shape.elements(); ++i) y[i] = values[0];
        size_t next = 0;
        lines.for_each([&](int64_t first) {
            int64_t index = indices[next++];
            // Indices outside the depth select nothing.
            if (index < 0) index += lines.length;
            if (index >= 0 && index < lines.length) y[first + index * lines.inner] = values[1];
        });
    });
}

}  // namespace

const Op one_hot_op{{
    .name = "OneHot",
    .since = {9, 11},
    .inputs = {3, 3},
    .types = number_types,
    .attributes = {{"axis", "int", "-1", "where the new axis stands in the output"}},
    .infer = infer_one_hot,
    .reference = one_hot_reference,
    .data_movement = true,
    .help = "A new axis with the second value at each index and the first elsewhere.",
}};

}  // namespace headway
