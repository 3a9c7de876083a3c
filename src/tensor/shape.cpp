#include "tensor/shape.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {

int64_t Shape::elements() const { return elements(0, rank()); }

int64_t Shape::elements(size_t begin, size_t end) const {
    int64_t product = 1;
    bool empty = false;
    for (size_t axis = begin; axis < end; ++axis) {
        empty = empty || dims_[axis] == 0;
        product = checked_mul(product, std::max<int64_t>(dims_[axis], 1), "element count");
    }
    return empty ? 0 : product;
}

std::vector<int64_t> Shape::strides() const {
    std::vector<int64_t> strides(rank());
    int64_t stride = 1;
    for (size_t axis = rank(); axis-- > 0;) {
        strides[axis] = stride;
        stride = checked_mul(stride, std::max<int64_t>(dims_[axis], 1), "stride");
    }
    return strides;
}

std::string Shape::text() const {
    if (dims_.empty()) return "scalar";
    std::string text;
    for (size_t axis = 0; axis < rank(); ++axis) {
        if (axis > 0) text += 'x';
        text += std::to_string(dims_[axis]);
    }
    return text;
}

Shape broadcast(const Shape& a, const Shape& b) {
    const size_t rank = std::max(a.rank(), b.rank());
    std::vector<int64_t> dims(rank);
    for (size_t i = 0; i < rank; ++i) {
        const int64_t x = i + a.rank() >= rank ? a[i + a.rank() - rank] : 1;
        const int64_t y = i + b.rank() >= rank ? b[i + b.rank() - rank] : 1;
        if (x != y && x != 1 && y != 1)
            throw UserError("shapes " + a.text() + " and " + b.text() + " do not broadcast");
        dims[i] = x == 1 ? y : x;
    }
    return Shape(std::move(dims));
}

int64_t normalized_axis(int64_t axis, size_t rank) {
    const auto extent = static_cast<int64_t>(rank);
    if (axis < -extent || axis >= extent)
        throw UserError("axis " + std::to_string(axis) + " is outside rank " + std::to_string(rank));
    return axis < 0 ? axis + extent : axis;
}

}  // namespace headway
