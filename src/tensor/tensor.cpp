#include "tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/limits.h"
#include "tensor/narrow.h"

namespace headway {
namespace {

template <class T>
T saturated(double value, T low, T high) {
    if (std::isnan(value)) return T{0};
    if (value <= static_cast<double>(low)) return low;
    if (value >= static_cast<double>(high)) return high;
    return static_cast<T>(value);
}

template <class T>
T saturated(ElementType type, double value) {
    if (is_narrow_integer(type)) {
        const bool is_signed = type == ElementType::i4 || type == ElementType::i2;
        const int values = 1 << bits_of(type);
        return saturated<T>(value, static_cast<T>(is_signed ? -values / 2 : 0),
                            static_cast<T>(is_signed ? values / 2 - 1 : values - 1));
    }
    return saturated<T>(value, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
}

// Calls f with a pointer of the C++ type that stores `type`.
template <class F>
void visit(ElementType type, const std::byte* data, F&& f) {
    switch (type) {
        case ElementType::f32:
            return f(reinterpret_cast<const float*>(data));
        case ElementType::f64:
            return f(reinterpret_cast<const double*>(data));
        case ElementType::i8:
        case ElementType::i4:
        case ElementType::i2:
            return f(reinterpret_cast<const int8_t*>(data));
        case ElementType::u8:
        case ElementType::u4:
        case ElementType::u2:
            return f(reinterpret_cast<const uint8_t*>(data));
        case ElementType::i16:
            return f(reinterpret_cast<const int16_t*>(data));
        case ElementType::u16:
            return f(reinterpret_cast<const uint16_t*>(data));
        case ElementType::i32:
            return f(reinterpret_cast<const int32_t*>(data));
        case ElementType::u32:
            return f(reinterpret_cast<const uint32_t*>(data));
        case ElementType::i64:
            return f(reinterpret_cast<const int64_t*>(data));
        case ElementType::u64:
            return f(reinterpret_cast<const uint64_t*>(data));
        default:
            throw InternalError("no plain number type: " + std::string(to_string(type)));
    }
}

struct OwnedBytes {
    explicit OwnedBytes(int64_t bytes)
        : claim(bytes),
          memory(std::aligned_alloc(64, static_cast<size_t>(round_up(std::max<int64_t>(bytes, 64), 64))), std::free) {
        if (memory == nullptr) throw UserError("out of memory for a tensor of " + std::to_string(bytes) + " bytes");
    }
    MemoryClaim claim;
    std::unique_ptr<void, decltype(&std::free)> memory;
};

}  // namespace

Tensor::Tensor(ElementType type, Shape shape, int64_t limit_bytes)
    : type_(type), shape_(std::move(shape)), writable_(true) {
    const int64_t bytes = checked_mul(shape_.elements(), static_cast<int64_t>(size_of(type)), "tensor size");
    if (bytes > limit_bytes)
        throw UserError("a tensor of " + shape_.text() + " (" + std::to_string(bytes) + " bytes) passes the limit of " +
                        std::to_string(limit_bytes) + " bytes");
    size_ = static_cast<size_t>(bytes);
    const auto owned = std::make_shared<OwnedBytes>(bytes);
    std::memset(owned->memory.get(), 0, size_);
    data_ = static_cast<const std::byte*>(owned->memory.get());
    owner_ = owned;
}

Tensor::Tensor(ElementType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : type_(type), shape_(std::move(shape)), data_(bytes.data()), size_(bytes.size()), owner_(std::move(owner)) {
    HEADWAY_CHECK(static_cast<int64_t>(bytes.size()) == checked_mul(shape_.elements(), size_of(type), "tensor size"));
}

Tensor Tensor::writable_view(ElementType type, Shape shape, std::span<std::byte> bytes) {
    Tensor tensor(type, std::move(shape), bytes, nullptr);
    tensor.writable_ = true;
    return tensor;
}

std::span<std::byte> Tensor::mutable_bytes() {
    HEADWAY_CHECK(writable_);
    return {const_cast<std::byte*>(data_), size_};
}

std::span<const uint16_t> Tensor::half_bits() const {
    HEADWAY_CHECK(size_of(type_) == 2);
    return {reinterpret_cast<const uint16_t*>(data_), size_ / 2};
}

double Tensor::at(int64_t index) const {
    if (type_ == ElementType::boolean) return data_[index] != std::byte{0} ? 1 : 0;
    if (type_ == ElementType::f16) return f16_to_float(half_bits()[index]);
    if (type_ == ElementType::bf16) return bf16_to_float(half_bits()[index]);
    if (is_narrow_float(type_)) return narrow_to_double(type_, static_cast<uint8_t>(data_[index]));
    double value = 0;
    visit(type_, data_, [&](const auto* data) { value = static_cast<double>(data[index]); });
    return value;
}

void Tensor::set(int64_t index, double value) {
    std::byte* data = mutable_bytes().data();
    if (type_ == ElementType::boolean) {
        data[index] = std::byte{value != 0};
    } else if (type_ == ElementType::f16 || type_ == ElementType::bf16) {
        const auto narrow = static_cast<float>(value);
        reinterpret_cast<uint16_t*>(data)[index] =
            type_ == ElementType::f16 ? float_to_f16(narrow) : float_to_bf16(narrow);
    } else if (is_narrow_float(type_)) {
        data[index] = std::byte{double_to_narrow(type_, value)};
    } else if (type_ == ElementType::f32) {
        reinterpret_cast<float*>(data)[index] = static_cast<float>(value);
    } else if (type_ == ElementType::f64) {
        reinterpret_cast<double*>(data)[index] = value;
    } else {
        visit(type_, data, [&](const auto* typed) {
            using T = std::remove_cvref_t<decltype(*typed)>;
            const_cast<T*>(typed)[index] = saturated<T>(type_, value);
        });
    }
}

std::vector<int64_t> Tensor::to_int64() const {
    std::vector<int64_t> values(static_cast<size_t>(elements()));
    if (type_ == ElementType::i64) {
        std::ranges::copy(data<int64_t>(), values.begin());
    } else {
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(at(static_cast<int64_t>(i)));
    }
    return values;
}

Tensor Tensor::reshaped(Shape shape) const {
    HEADWAY_CHECK(shape.elements() == elements());
    Tensor copy = *this;
    copy.shape_ = std::move(shape);
    copy.writable_ = false;
    return copy;
}

Hash Tensor::hash() const {
    Hasher hasher;
    hasher.add(static_cast<int64_t>(type_)).add(shape_.text()).add_bytes(data_, size_);
    return hasher.finish();
}

}  // namespace headway
