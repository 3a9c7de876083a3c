#include "ops/reduce.h"

namespace headway {

void infer_reduce(InferContext& context) {
    const Shape& shape = context.shape(0);
    const std::vector<bool> reduced = reduced_axes(context, context.attributes(), shape.rank());
    const bool keep = context.attributes().integer("keepdims", 1) != 0;
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        if (!reduced[axis])
            dims.push_back(shape[axis]);
        else if (keep)
            dims.push_back(1);
    }
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

const std::vector<AttributeDoc>& reduce_attributes() {
    static const std::vector<AttributeDoc> docs{
        {"axes", "ints", "all", "axes to reduce (an input from opset 18, for ReduceSum from 13)"},
        {"keepdims", "int", "1", "1: reduced axes stay with extent 1"},
        {"noop_with_empty_axes", "int", "0", "1: without axes, no axis is reduced"}};
    return docs;
}

const std::vector<int>& reduce_versions() {
    static const std::vector<int> versions{1, 11, 13, 18};
    return versions;
}

Strides reduced_strides(const Shape& shape, const std::vector<bool>& reduced) {
    Shape kept = shape;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
        if (reduced[axis]) kept[axis] = 1;
    return broadcast_strides(kept, shape);
}

}  // namespace headway
