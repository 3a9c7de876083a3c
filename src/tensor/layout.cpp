#include "tensor/layout.h"

#include <string>

#include "base/checked.h"

namespace headway {

std::string_view to_string(Layout layout) {
    switch (layout) {
        case Layout::plain:
            return "plain";
        case Layout::nhwc:
            return "nhwc";
        case Layout::nchw8c:
            return "nchw8c";
        case Layout::nchw16c:
            return "nchw16c";
    }
    return "plain";
}

Layout layout_from_string(std::string_view word) {
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
        if (to_string(layout) == word) return layout;
    throw UserError("unknown layout " + std::string(word));
}

int64_t channel_block(Layout layout) { return layout == Layout::nchw8c ? 8 : layout == Layout::nchw16c ? 16 : 1; }

int64_t TensorDesc::physical_elements() const {
    const int64_t block = channel_block(layout);
    if (block == 1) return shape.elements();
    HEADWAY_CHECK(shape.rank() >= 2);
    Shape padded = shape;
    padded[1] = round_up(shape[1], block);
    return padded.elements();
}

int64_t TensorDesc::bytes() const {
    return checked_mul(physical_elements(), static_cast<int64_t>(size_of(type)), "tensor size");
}

}  // namespace headway
