#include "ops/stacking.h"

#include "base/checked.h"
#include "ops/strided.h"

namespace headway {
namespace {

Tensor blank(const Tensor& like, Shape shape) { return {like.type(), std::move(shape)}; }

Strings blank(const Strings&, Shape shape) {
    std::vector<std::string> values(static_cast<size_t>(shape.elements()));
    return {std::move(shape), std::move(values)};
}

// What of `whole` starts at `offset` and has these strides, under a shape of its own.
TensorValues copied(const TensorValues& whole, int64_t offset, const Strides& strides, Shape shape) {
    return std::visit(
        [&](const auto& from) -> TensorValues {
            auto to = blank(from, std::move(shape));
            strided_copy(from, offset, strides, to, 0, shape_of(to).strides(), shape_of(to));
            return to;
        },
        whole);
}

// All tensors in one of `shape`: each lies `step` elements behind the one before on `strides`.
template <class Step>
TensorValues joined(std::span<const TensorValues> tensors, Shape shape, const Strides& strides, Step step) {
    return std::visit(
        [&]<class T>(const T& first) -> TensorValues {
            T whole = blank(first, std::move(shape));
            int64_t offset = 0;
            for (const TensorValues& each : tensors) {
                const T& part = std::get<T>(each);
                strided_copy(part, 0, shape_of(part).strides(), whole, offset, strides, shape_of(part));
                offset += step(shape_of(part));
            }
            return whole;
        },
        tensors[0]);
}

[[noreturn]] void fail_to_join(const TensorValues& first, const TensorValues& other, const char* what) {
    throw UserError(std::string(what) + " cannot be joined: " + std::string(to_string(element_type(first))) + " " +
                    shape_of(first).text() + " and " + std::string(to_string(element_type(other))) + " " +
                    shape_of(other).text());
}

}  // namespace

TensorValues slice_of(const TensorValues& whole, size_t axis, int64_t index) {
    const Strides from = shape_of(whole).strides();
    Strides kept = from;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
    std::vector<int64_t> dims = shape_of(whole).dims();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    return copied(whole, index * from[axis], kept, Shape(dims));
}

TensorValues part_of(const TensorValues& whole, size_t axis, int64_t start, int64_t length) {
    const Strides from = shape_of(whole).strides();
    Shape shape = shape_of(whole);
    shape[axis] = length;
    return copied(whole, start * from[axis], from, shape);
}

TensorValues stacked(std::span<const TensorValues> tensors, size_t axis, const char* what) {
    HEADWAY_CHECK(!tensors.empty());
    const Shape& part = shape_of(tensors[0]);
    for (const TensorValues& tensor : tensors)
        if (element_type(tensor) != element_type(tensors[0]) || shape_of(tensor) != part)
            fail_to_join(tensors[0], tensor, what);
    std::vector<int64_t> dims = part.dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<int64_t>(tensors.size()));
    const Shape shape(std::move(dims));
    Strides kept = shape.strides();
    const int64_t step = kept[axis];
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
    return joined(tensors, shape, kept, [&](const Shape&) { return step; });
}

TensorValues concatenated(std::span<const TensorValues> tensors, size_t axis, const char* what) {
    HEADWAY_CHECK(!tensors.empty());
    Shape shape = shape_of(tensors[0]);
    shape[axis] = 0;
    for (const TensorValues& tensor : tensors) {
        Shape other = shape_of(tensor);
        if (element_type(tensor) != element_type(tensors[0]) || other.rank() != shape.rank())
            fail_to_join(tensors[0], tensor, what);
        const int64_t total = checked_add(shape[axis], other[axis], "the joined axis");
        other[axis] = shape[axis];
        if (other != shape) fail_to_join(tensors[0], tensor, what);
        shape[axis] = total;
    }
    const Strides strides = shape.strides();
    return joined(tensors, shape, strides, [&](const Shape& part) { return part[axis] * strides[axis]; });
}

}  // namespace headway
