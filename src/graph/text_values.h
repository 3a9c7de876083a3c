// Numbers and tensors of graph text: exact both ways (NaN payloads excepted).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/text_cursor.h"
#include "tensor/strings.h"
#include "tensor/tensor.h"

namespace headway {

// Shortest text that reads back as the same float, always with a '.', an exponent, "inf" or "nan".
std::string real_text(float value);
bool reads_as_real(std::string_view number);
// "f32[1,3]"; the shape is fully known.
std::string type_text(ElementType type, const Shape& shape);
// "{1,2,3}", or "hash(...)" when there are more than `inline_limit` elements.
std::string tensor_values_text(const Tensor& tensor, int64_t inline_limit);
// The same of strings: {"a","b"}.
std::string strings_text(const Strings& strings, int64_t inline_limit);

// Reads `{...}`, `fill(x)`, `random(seed)` or `table(k)`. `budget` is the number of bytes that the text may still ask
// for.
Tensor read_tensor_values(TextCursor& cursor, ElementType type, const Shape& shape, int64_t& budget,
                          std::span<const Tensor> table);
// Reads `{"a","b"}`.
Strings read_strings(TextCursor& cursor, Shape shape);

}  // namespace headway
