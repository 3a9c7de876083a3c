// Encoded images as pixels. The formats are those of ONNX's ImageDecoder; the bytes are untrusted.
#pragma once

#include <cstddef>
#include <span>

#include "tensor/tensor.h"

namespace headway {

// u8, height x width x 3: red, green and blue of each pixel. Grey images have three equal ones, deeper ones keep their
// upper bits, transparency is dropped. UserError when the data are no image, or one that is damaged, cut off or beyond
// the memory limit; Unsupported for kinds of images that are not handled, and for formats whose library this build
// lacks.
Tensor decode_image(std::span<const std::byte> encoded);

}  // namespace headway
