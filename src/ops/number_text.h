// Numbers as strings and back, as Cast and CastLike do it.
#pragma once

#include <string>
#include <string_view>

#include "tensor/strings.h"
#include "tensor/tensor.h"

namespace headway {

// In the form in which NumPy, ONNX's reference, prints a double: the fewest digits that read back as the same number of
// its type, with an exponent below 0.0001 and from 1e16 on; "nan", "inf", "-inf"; booleans as "True" and "False".
Strings number_texts(const Tensor& numbers);

// The numbers of plain or scientific texts, blanks around them ignored: INF, +INF, -INF and NaN in any case; "true" and
// "false" for booleans. For integers, a text that is no whole number is cast from floating point. UserError naming the
// text that is no number or whose whole number does not fit into 64 bits. `type` is none of the narrow ones.
Tensor parsed_numbers(const Strings& texts, ElementType type);

}  // namespace headway
