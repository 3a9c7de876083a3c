// Encoded images, which a model's data hold: each format's library behind our limits.
#include "images/decode.h"
#include "target.h"

namespace headway::fuzz {
namespace {

const Target image_target{{
    .name = "image",
    .run = [](std::string_view bytes) { decode_image(std::as_bytes(std::span(bytes))); },
}};

}  // namespace
}  // namespace headway::fuzz
