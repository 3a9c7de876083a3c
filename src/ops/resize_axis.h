// Resizing one axis: which input elements make up each output element, and with what weights. Resize works on one axis
// after the other with these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/attributes.h"

namespace headway {

enum class ResizeMode { nearest, linear, cubic };
enum class NearestMode { round_prefer_floor, round_prefer_ceil, floor, ceil };
enum class CoordinateMode {
    half_pixel,
    half_pixel_symmetric,
    pytorch_half_pixel,
    align_corners,
    asymmetric,
    tf_crop_and_resize,
    tf_half_pixel_for_nn,  // opset 11 only
};

struct ResizeRule {
    ResizeMode mode = ResizeMode::nearest;
    NearestMode nearest = NearestMode::round_prefer_floor;
    CoordinateMode coordinates = CoordinateMode::half_pixel;
    double cubic_a = -0.75;
    double extrapolation = 0;
    bool exclude_outside = false;
    bool antialias = false;

    // As the attributes of Resize of an opset say; before opset 11 positions are asymmetric and rounded down.
    static ResizeRule of(const Attributes& attributes, int version);
};

struct ResizedAxis {
    int64_t in = 1, out = 1;
    double scale = 1;
    double roi_begin = 0, roi_end = 1;

    bool changes() const { return in != out || scale != 1 || roi_begin != 0 || roi_end != 1; }
};

struct Tap {
    int64_t index;
    double weight;
};

// The taps of one output position; none: the extrapolation value stands there.
std::vector<Tap> resize_taps(const ResizedAxis& axis, const ResizeRule& rule, int64_t output);

}  // namespace headway
