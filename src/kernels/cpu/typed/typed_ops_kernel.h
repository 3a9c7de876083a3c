// Elementwise loops on any element types (see typed_ops.h). Included once by each of typed_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/simd.h"
#include "kernels/cpu/typed/typed_ops.h"

namespace headway::HEADWAY_ISA {
namespace {

struct Equal {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return a == b;
    }
};
struct Less {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return a < b;
    }
};
struct LessOrEqual {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return a <= b;
    }
};
struct Greater {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return a > b;
    }
};
struct GreaterOrEqual {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return a >= b;
    }
};
struct And {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return (a != 0) & (b != 0);
    }
};
struct Or {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return (a != 0) | (b != 0);
    }
};
struct Xor {
    template <class T>
    HEADWAY_INLINE bool of(T a, T b) {
        return (a != 0) != (b != 0);
    }
};

template <class Op, class T>
void compare_loop(const std::byte* const* src, const int64_t* strides, std::byte* dst, int64_t n) {
    const auto* a = reinterpret_cast<const T*>(src[0]);
    const auto* b = reinterpret_cast<const T*>(src[1]);
    auto* to = reinterpret_cast<uint8_t*>(dst);
    if (strides[0] == 1 && strides[1] == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = Op::of(a[i], b[i]);
    } else if (strides[0] == 1 && strides[1] == 0) {
        const T right = *b;
        for (int64_t i = 0; i < n; ++i) to[i] = Op::of(a[i], right);
    } else if (strides[0] == 0 && strides[1] == 1) {
        const T left = *a;
        for (int64_t i = 0; i < n; ++i) to[i] = Op::of(left, b[i]);
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = Op::of(a[i * strides[0]], b[i * strides[1]]);
    }
}

template <class Op>
TypedLoop compare_of(ElementType type) {
    switch (type) {
        case ElementType::f32:
            return compare_loop<Op, float>;
        case ElementType::i32:
            return compare_loop<Op, int32_t>;
        case ElementType::i64:
            return compare_loop<Op, int64_t>;
        case ElementType::u8:
            return compare_loop<Op, uint8_t>;
        case ElementType::boolean:
            return compare_loop<Op, uint8_t>;
        default:
            return nullptr;
    }
}

TypedLoop compare(std::string_view op, ElementType type) {
    const bool boolean = type == ElementType::boolean;
    if (op == "Equal") return compare_of<Equal>(type);
    if (op == "And" && boolean) return compare_loop<And, uint8_t>;
    if (op == "Or" && boolean) return compare_loop<Or, uint8_t>;
    if (op == "Xor" && boolean) return compare_loop<Xor, uint8_t>;
    if (boolean) return nullptr;
    if (op == "Less") return compare_of<Less>(type);
    if (op == "LessOrEqual") return compare_of<LessOrEqual>(type);
    if (op == "Greater") return compare_of<Greater>(type);
    if (op == "GreaterOrEqual") return compare_of<GreaterOrEqual>(type);
    return nullptr;
}

struct IsNaN {
    HEADWAY_INLINE bool of(float a) { return a != a; }
};
struct Not {
    HEADWAY_INLINE bool of(uint8_t a) { return a == 0; }
};

template <class Op, class T>
void test_loop(const std::byte* const* src, const int64_t* strides, std::byte* dst, int64_t n) {
    const auto* a = reinterpret_cast<const T*>(src[0]);
    auto* to = reinterpret_cast<uint8_t*>(dst);
    if (strides[0] == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = Op::of(a[i]);
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = Op::of(a[i * strides[0]]);
    }
}

TypedLoop test(std::string_view op, ElementType type) {
    if (op == "IsNaN" && type == ElementType::f32) return test_loop<IsNaN, float>;
    if (op == "Not" && type == ElementType::boolean) return test_loop<Not, uint8_t>;
    return nullptr;
}

template <class T>
void where_loop(const std::byte* const* src, const int64_t* strides, std::byte* dst, int64_t n) {
    const auto* condition = reinterpret_cast<const uint8_t*>(src[0]);
    const auto* yes = reinterpret_cast<const T*>(src[1]);
    const auto* no = reinterpret_cast<const T*>(src[2]);
    auto* to = reinterpret_cast<T*>(dst);
    const int64_t c = strides[0], y = strides[1], z = strides[2];
    if (c == 1 && y == 1 && z == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? yes[i] : no[i];
    } else if (c == 1 && y == 1 && z == 0) {
        const T other = *no;
        for (int64_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? yes[i] : other;
    } else if (c == 1 && y == 0 && z == 1) {
        const T value = *yes;
        for (int64_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? value : no[i];
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = condition[i * c] != 0 ? yes[i * y] : no[i * z];
    }
}

TypedLoop where(size_t size) {
    if (size == 1) return where_loop<uint8_t>;
    if (size == 2) return where_loop<uint16_t>;
    if (size == 4) return where_loop<uint32_t>;
    return size == 8 ? where_loop<uint64_t> : nullptr;
}

struct Boolean {
    uint8_t value;
};

template <class T>
struct Limits;
template <>
struct Limits<int8_t> {
    static constexpr int8_t lowest = -128, most = 127;
};
template <>
struct Limits<uint8_t> {
    static constexpr uint8_t lowest = 0, most = 255;
};
template <>
struct Limits<int32_t> {
    static constexpr int32_t lowest = -2147483647 - 1, most = 2147483647;
};
template <>
struct Limits<int64_t> {
    static constexpr int64_t lowest = -9223372036854775807LL - 1, most = 9223372036854775807LL;
};

template <class From, class To>
struct Cast {
    HEADWAY_INLINE To of(From value) { return static_cast<To>(value); }
};
template <class To>
struct Cast<float, To> {
    HEADWAY_INLINE To of(float value) {
        if (value != value) return 0;
        if (value <= static_cast<double>(Limits<To>::lowest)) return Limits<To>::lowest;
        if (value >= static_cast<double>(Limits<To>::most)) return Limits<To>::most;
        return static_cast<To>(value);
    }
};
template <>
struct Cast<float, float> {
    HEADWAY_INLINE float of(float value) { return value; }
};
template <class From>
struct Cast<From, Boolean> {
    HEADWAY_INLINE Boolean of(From value) { return {static_cast<uint8_t>(value != 0)}; }
};
template <>
struct Cast<float, Boolean> {
    HEADWAY_INLINE Boolean of(float value) { return {static_cast<uint8_t>(value != 0)}; }
};

template <class From, class To>
void cast_loop(const std::byte* const* src, const int64_t*, std::byte* dst, int64_t n) {
    const auto* from = reinterpret_cast<const From*>(src[0]);
    auto* to = reinterpret_cast<To*>(dst);
    for (int64_t i = 0; i < n; ++i) to[i] = Cast<From, To>::of(from[i]);
}

template <class From>
TypedLoop cast_from(ElementType to) {
    switch (to) {
        case ElementType::f32:
            return cast_loop<From, float>;
        case ElementType::i8:
            return cast_loop<From, int8_t>;
        case ElementType::u8:
            return cast_loop<From, uint8_t>;
        case ElementType::i32:
            return cast_loop<From, int32_t>;
        case ElementType::i64:
            return cast_loop<From, int64_t>;
        case ElementType::boolean:
            return cast_loop<From, Boolean>;
        default:
            return nullptr;
    }
}

TypedLoop cast(ElementType from, ElementType to) {
    switch (from) {
        case ElementType::f32:
            return cast_from<float>(to);
        case ElementType::i8:
            return cast_from<int8_t>(to);
        case ElementType::u8:
            return cast_from<uint8_t>(to);
        case ElementType::boolean:
            return cast_from<uint8_t>(to);
        case ElementType::i32:
            return cast_from<int32_t>(to);
        case ElementType::i64:
            return cast_from<int64_t>(to);
        default:
            return nullptr;
    }
}

}  // namespace

const TypedOps& typed_ops() {
    static constexpr TypedOps ops{compare, test, where, cast};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
