// Sets of element types: which types an operator's first input may have.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensor/element_type.h"

namespace headway {

class TypeSet {
public:
    constexpr TypeSet() = default;
    constexpr TypeSet(std::initializer_list<ElementType> types) {
        for (ElementType type : types) bits_ |= uint32_t{1} << static_cast<int>(type);
    }
    constexpr bool contains(ElementType type) const { return (bits_ >> static_cast<int>(type) & 1) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr TypeSet operator|(TypeSet other) const {
        other.bits_ |= bits_;
        return other;
    }
    std::string text() const;  // "f32, f16"; "any" when empty

private:
    uint32_t bits_ = 0;
};

inline constexpr TypeSet float_types{ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16};
inline constexpr TypeSet signed_integer_types{ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64};
inline constexpr TypeSet unsigned_integer_types{ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64};
inline constexpr TypeSet boolean_type{ElementType::boolean};
inline constexpr TypeSet signed_types = float_types | signed_integer_types;
inline constexpr TypeSet integer_types = signed_integer_types | unsigned_integer_types;
inline constexpr TypeSet number_types = float_types | integer_types;
inline constexpr TypeSet fixed_size_types = number_types | boolean_type;
inline constexpr TypeSet float8_types{ElementType::f8e4m3fn, ElementType::f8e4m3fnuz, ElementType::f8e5m2,
                                      ElementType::f8e5m2fnuz};
inline constexpr TypeSet narrow_integer_types{ElementType::u4, ElementType::i4, ElementType::u2, ElementType::i2};
inline constexpr TypeSet narrow_types =
    float8_types | narrow_integer_types | TypeSet{ElementType::f4e2m1, ElementType::f8e8m0};
inline constexpr TypeSet movable_types = fixed_size_types | narrow_types;  // all but strings
inline constexpr TypeSet string_type{ElementType::string};
inline constexpr TypeSet any_types = movable_types | string_type;
inline constexpr TypeSet index_types{ElementType::i32, ElementType::i64};

}  // namespace headway
