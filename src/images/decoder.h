// One image format: a file, in a folder of its own where it needs a library. The build leaves out the folders whose
// library it does not find, so that a format without a decoder is one that this build cannot read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/registry.h"
#include "tensor/tensor.h"

namespace headway {

class ImageDecoder {
public:
    struct Fields {
        std::string name;  // as decode.cpp calls the format
        // See decode_image. The message does not repeat the format.
        Tensor (*decode)(std::span<const std::byte> encoded);
    };
    explicit ImageDecoder(Fields fields) : fields_(std::move(fields)) { announced<ImageDecoder>().push_back(this); }
    ImageDecoder(const ImageDecoder&) = delete;
    ImageDecoder& operator=(const ImageDecoder&) = delete;

    std::string_view name() const { return fields_.name; }
    Tensor decode(std::span<const std::byte> encoded) const { return fields_.decode(encoded); }

private:
    Fields fields_;
};

// The pixels of an image while they are decoded. Claimed from the memory limit before anything is allocated: UserError
// when it does not suffice, or when an extent is zero.
class Canvas {
public:
    // working_bytes: what the library takes beside the pixels.
    Canvas(int64_t height, int64_t width, int64_t working_bytes);

    int64_t height() const { return pixels_.shape()[0]; }
    int64_t width() const { return pixels_.shape()[1]; }
    uint8_t* row(int64_t y) { return pixels_.mutable_data<uint8_t>().data() + y * width() * 3; }
    Tensor finish() && { return std::move(pixels_); }

private:
    MemoryClaim working_;
    Tensor pixels_;
};

// height x width x bytes; UserError when that is no number.
int64_t pixel_bytes(int64_t height, int64_t width, int64_t bytes);

}  // namespace headway
