// Element types of eight bits and fewer: ONNX's narrow floating-point formats as numbers, and elements of fewer than
// eight bits packed as files hold them.
//
// Formats: E4M3FN, E5M2 after Micikevicius et al., "FP8 formats for deep learning" (2022); their FNUZ forms (no
// infinity, no negative zero, one NaN) after Noune et al., "8-bit numerical formats" (2022); E2M1 and E8M0 after the
// OCP Microscaling specification 1.0. Conversions follow the tables of ONNX's Cast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tensor/tensor.h"

namespace headway {

// How E8M0, which holds powers of two only, takes a number between two of them.
enum class PowerRounding { up, down, nearest };  // nearest: 1.5 and above go up

struct NarrowRounding {
    bool saturate = true;  // what is out of range becomes the largest value, else infinity or NaN; f4e2m1 always does
    PowerRounding power = PowerRounding::up;
};

// Of a narrow floating-point type; bits of f4e2m1 above the low four are ignored.
double narrow_to_double(ElementType type, uint8_t bits);
// Rounds to nearest even once, from the double itself. NaN becomes the negative zero of f4e2m1, which has none.
// f8e8m0 has neither sign nor zero: negative numbers become NaN, and without saturation so does what is below 2^-127.
uint8_t double_to_narrow(ElementType type, double value, const NarrowRounding& rounding = {});

// The byte that stands in memory for the low bits of `bits`, as many as the type has.
uint8_t narrow_byte(ElementType type, uint8_t bits);

// Bytes of so many elements in a file.
int64_t packed_bytes(ElementType type, int64_t elements);
// Elements of fewer than eight bits from a file's bytes, the first in the lowest bits; the span holds packed_bytes.
Tensor unpacked(ElementType type, Shape shape, std::span<const std::byte> bytes);
// The other way.
std::string packed(const Tensor& tensor);

}  // namespace headway
