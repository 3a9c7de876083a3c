// A dense tensor in plain layout: type, shape and bytes that it owns or that some file map keeps alive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace headway {

class Tensor {
public:
    Tensor() = default;
    // Zero-filled and 64-byte aligned. UserError when it would pass `limit_bytes`.
    Tensor(ElementType type, Shape shape, int64_t limit_bytes = default_limit_bytes);
    // A view on bytes kept alive by `owner`; the span must hold exactly the tensor.
    Tensor(ElementType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
    // A writable view on memory that outlives it; the span must hold exactly the tensor.
    static Tensor writable_view(ElementType type, Shape shape, std::span<std::byte> bytes);

    template <class T>
    static Tensor of(Shape shape, std::span<const T> values);
    template <class T>
    static Tensor scalar(T value) {
        return of<T>(Shape{}, std::span<const T>(&value, 1));
    }

    ElementType type() const { return type_; }
    const Shape& shape() const { return shape_; }
    int64_t elements() const { return shape_.elements(); }
    size_t size_bytes() const { return size_; }
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    // Only for tensors made by the first constructor or writable_view.
    std::span<std::byte> mutable_bytes();

    // Elements as T; the type must match.
    template <class T>
    std::span<const T> data() const {
        HEADWAY_CHECK(element_type_of<T>() == type_);
        return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
    }
    template <class T>
    std::span<T> mutable_data() {
        HEADWAY_CHECK(element_type_of<T>() == type_);
        return {reinterpret_cast<T*>(mutable_bytes().data()), size_ / sizeof(T)};
    }
    // 16-bit patterns of f16 and bf16 tensors.
    std::span<const uint16_t> half_bits() const;

    // Element i of any numeric type, converted; set rounds and saturates as a C++ cast of a clamped value.
    double at(int64_t index) const;
    void set(int64_t index, double value);
    // Integer tensors (i64, i32, bool, u8...) as int64, for shapes and axes.
    std::vector<int64_t> to_int64() const;
    // The same bytes under another shape of equal element count.
    Tensor reshaped(Shape shape) const;
    Hash hash() const;  // type, shape and bytes

    static constexpr int64_t default_limit_bytes = int64_t{1} << 36;

private:
    ElementType type_ = ElementType::undefined;
    Shape shape_;
    const std::byte* data_ = nullptr;
    size_t size_ = 0;
    bool writable_ = false;
    std::shared_ptr<const void> owner_;
};

template <class T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
    Tensor tensor(element_type_of<T>(), std::move(shape));
    HEADWAY_CHECK(tensor.size_bytes() == values.size_bytes());
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>().begin());
    return tensor;
}

}  // namespace headway
