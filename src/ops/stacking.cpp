#include "ops/stacking.h"

#include "ops/strided.h"

namespace headway {

Tensor slice_of(const Tensor& tensor, size_t axis, int64_t index) {
    const Strides from = tensor.shape().strides();
    Strides kept = from;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
    std::vector<int64_t> dims = tensor.shape().dims();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    Tensor slice(tensor.type(), Shape(dims));
    strided_copy(tensor, index * from[axis], kept, slice, 0, slice.shape().strides(), slice.shape());
    return slice;
}

Tensor stacked(std::span<const Tensor> tensors, size_t axis, const char* what) {
    HEADWAY_CHECK(!tensors.empty());
    const Shape& part = tensors[0].shape();
    for (const Tensor& tensor : tensors)
        if (tensor.type() != tensors[0].type() || tensor.shape() != part)
            throw UserError(std::string(what) + " cannot be joined: " + std::string(to_string(tensors[0].type())) +
                            " " + part.text() + " and " + std::string(to_string(tensor.type())) + " " +
                            tensor.shape().text());
    std::vector<int64_t> dims = part.dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<int64_t>(tensors.size()));
    Tensor whole(tensors[0].type(), Shape(dims));
    const Strides to = whole.shape().strides();
    Strides kept = to;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
    for (size_t i = 0; i < tensors.size(); ++i)
        strided_copy(tensors[i], 0, part.strides(), whole, static_cast<int64_t>(i) * to[axis], kept, part);
    return whole;
}

}  // namespace headway
