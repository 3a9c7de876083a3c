// How references see an element: how it is stored, and the type in which arithmetic on it is done: double for floating
// point, 64-bit integers for integers (wrapping when stored), so that a reference is written once for all types.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "tensor/tensor.h"

namespace headway {

template <class Stored, class Computed, ElementType Type>
struct PlainElement {
    using Storage = Stored;
    using Compute = Computed;
    static constexpr ElementType type = Type;
    static Compute load(Storage value) { return static_cast<Compute>(value); }
    static Storage store(Compute value) { return static_cast<Storage>(value); }
};

struct F16Element {
    using Storage = uint16_t;
    using Compute = double;
    static constexpr ElementType type = ElementType::f16;
    static double load(uint16_t bits) { return f16_to_float(bits); }
    static uint16_t store(double value) { return float_to_f16(static_cast<float>(value)); }
};

struct Bf16Element {
    using Storage = uint16_t;
    using Compute = double;
    static constexpr ElementType type = ElementType::bf16;
    static double load(uint16_t bits) { return bf16_to_float(bits); }
    static uint16_t store(double value) { return float_to_bf16(static_cast<float>(value)); }
};

// Any non-zero byte is true.
struct BooleanElement {
    using Storage = uint8_t;
    using Compute = int64_t;
    static constexpr ElementType type = ElementType::boolean;
    static int64_t load(uint8_t byte) { return byte != 0 ? 1 : 0; }
    static uint8_t store(int64_t value) { return value != 0 ? 1 : 0; }
};

[[noreturn]] inline void refuse_type(ElementType type) {
    throw Unsupported("element type " + std::string(to_string(type)) + " is not handled");
}

// Call f with an Element value of the type; Unsupported for types outside the family.
template <class F>
auto visit_float(ElementType type, F&& f) {
    switch (type) {
        case ElementType::f32:
            return f(PlainElement<float, double, ElementType::f32>{});
        case ElementType::f64:
            return f(PlainElement<double, double, ElementType::f64>{});
        case ElementType::f16:
            return f(F16Element{});
        case ElementType::bf16:
            return f(Bf16Element{});
        default:
            refuse_type(type);
    }
}

template <class F>
auto visit_integer(ElementType type, F&& f) {
    switch (type) {
        case ElementType::i8:
            return f(PlainElement<int8_t, int64_t, ElementType::i8>{});
        case ElementType::i16:
            return f(PlainElement<int16_t, int64_t, ElementType::i16>{});
        case ElementType::i32:
            return f(PlainElement<int32_t, int64_t, ElementType::i32>{});
        case ElementType::i64:
            return f(PlainElement<int64_t, int64_t, ElementType::i64>{});
        case ElementType::u8:
            return f(PlainElement<uint8_t, uint64_t, ElementType::u8>{});
        case ElementType::u16:
            return f(PlainElement<uint16_t, uint64_t, ElementType::u16>{});
        case ElementType::u32:
            return f(PlainElement<uint32_t, uint64_t, ElementType::u32>{});
        case ElementType::u64:
            return f(PlainElement<uint64_t, uint64_t, ElementType::u64>{});
        default:
            refuse_type(type);
    }
}

template <class F>
auto visit_number(ElementType type, F&& f) {
    return is_float(type) ? visit_float(type, f) : visit_integer(type, f);
}

// Numbers and booleans.
template <class F>
auto visit_element(ElementType type, F&& f) {
    return type == ElementType::boolean ? f(BooleanElement{}) : visit_number(type, f);
}

// Call f with an unsigned integer of the element's size: for moving elements without looking at them.
template <class F>
void visit_size(ElementType type, F&& f) {
    switch (size_of(type)) {
        case 1:
            return f(uint8_t{});
        case 2:
            return f(uint16_t{});
        case 4:
            return f(uint32_t{});
        case 8:
            return f(uint64_t{});
        default:
            refuse_type(type);
    }
}

template <class Storage>
const Storage* stored(const Tensor& tensor) {
    return reinterpret_cast<const Storage*>(tensor.bytes().data());
}

template <class Storage>
Storage* stored(Tensor& tensor) {
    return reinterpret_cast<Storage*>(tensor.mutable_bytes().data());
}

// Wrapping integer arithmetic; plain arithmetic on double.
template <class T, class F>
T wrapping(T a, T b, F f) {
    if constexpr (std::is_floating_point_v<T>)
        return f(a, b);
    else
        return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

template <class T>
bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>)
        return std::isnan(value);
    else
        return false;
}

}  // namespace headway
