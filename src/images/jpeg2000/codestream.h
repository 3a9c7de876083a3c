// What a JPEG 2000 file asks for before its library is asked to read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headway {

struct Codestream {
    bool is_boxed;  // a JP2 file around it
    int64_t tiles, components;
};

// From the first codestream of the data; UserError when there is none or its size marker makes no sense.
Codestream find_codestream(std::span<const std::byte> encoded);

}  // namespace headway
