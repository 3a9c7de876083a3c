// A dense array of strings: byte strings as a file holds them (ONNX says UTF-8; nothing here depends on it). Only the
// interpreter works on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "tensor/shape.h"

namespace headway {

struct Strings {
    Shape shape;
    std::vector<std::string> values;  // row-major, shape.elements() of them

    Hash hash() const;
    bool operator==(const Strings&) const = default;
};

// Collects the strings that an operator makes, in row-major order. A model may ask for any number of any length:
// UserError as soon as they need more than `limit_bytes` of memory.
class StringsWriter {
public:
    static constexpr int64_t default_limit_bytes = int64_t{1} << 32;

    explicit StringsWriter(Shape shape, int64_t limit_bytes = default_limit_bytes);
    void add(std::string_view first, std::string_view second = {});  // one string: the second after the first
    Strings finish() &&;                                             // after shape.elements() calls of add()

private:
    Strings strings_;
    int64_t left_;
};

}  // namespace headway
