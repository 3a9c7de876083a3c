#include "ops/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "ops/first_forms.h"

namespace headway {
namespace {

template <class T>
T word_of(const Attributes& attributes, const char* name, const char* fallback,
          std::span<const std::pair<std::string_view, T>> words) {
    const std::string text = attributes.text(name, fallback);
    for (const auto& [word, value] : words)
        if (word == text) return value;
    throw UserError("attribute " + std::string(name) + " has an unknown value");
}

constexpr std::array<std::pair<std::string_view, ResizeMode>, 3> modes{
    {{"nearest", ResizeMode::nearest}, {"linear", ResizeMode::linear}, {"cubic", ResizeMode::cubic}}};
constexpr std::array<std::pair<std::string_view, NearestMode>, 4> nearest_modes{
    {{"round_prefer_floor", NearestMode::round_prefer_floor},
     {"round_prefer_ceil", NearestMode::round_prefer_ceil},
     {"floor", NearestMode::floor},
     {"ceil", NearestMode::ceil}}};
constexpr std::array<std::pair<std::string_view, CoordinateMode>, 7> coordinate_modes{
    {{"half_pixel", CoordinateMode::half_pixel},
     {"half_pixel_symmetric", CoordinateMode::half_pixel_symmetric},
     {"pytorch_half_pixel", CoordinateMode::pytorch_half_pixel},
     {"align_corners", CoordinateMode::align_corners},
     {"asymmetric", CoordinateMode::asymmetric},
     {"tf_crop_and_resize", CoordinateMode::tf_crop_and_resize},
     {"tf_half_pixel_for_nn", CoordinateMode::tf_half_pixel_for_nn}}};

// Where output position x falls among the input positions; nothing: outside, to be extrapolated.
std::optional<double> source_position(const ResizedAxis& axis, CoordinateMode mode, double x) {
    const auto in = static_cast<double>(axis.in);
    const double out = axis.scale * in;
    switch (mode) {
        case CoordinateMode::align_corners:
            return out == 1 ? 0.0 : x * (in - 1) / (out - 1);
        case CoordinateMode::asymmetric:
            return x / axis.scale;
        case CoordinateMode::tf_half_pixel_for_nn:
            return (x + 0.5) / axis.scale;
        case CoordinateMode::half_pixel:
            return (x + 0.5) / axis.scale - 0.5;
        case CoordinateMode::pytorch_half_pixel:
            return out == 1 ? -0.5 : (x + 0.5) / axis.scale - 0.5;
        case CoordinateMode::half_pixel_symmetric: {
            const double adjustment = static_cast<double>(axis.out) / out;
            return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
        }
        case CoordinateMode::tf_crop_and_resize:
            break;
    }
    const double width = (axis.roi_end - axis.roi_begin) * (in - 1);
    const double position = axis.roi_begin * (in - 1) + (out == 1 ? width / 2 : x * width / (out - 1));
    if (position < 0 || position > in - 1) return std::nullopt;
    return position;
}

double cubic_weight(double distance, double a) {
    const double x = std::fabs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

// Whether the right one of the two neighbours is the nearest; ratio in (0, 1] is the distance from the left one.
bool takes_right(double ratio, NearestMode mode) {
    if (ratio == 1) return true;
    switch (mode) {
        case NearestMode::round_prefer_floor:
            return ratio > 0.5;
        case NearestMode::round_prefer_ceil:
            return ratio >= 0.5;
        case NearestMode::floor:
            return false;
        case NearestMode::ceil:
            return true;
    }
    return false;
}

double weight_of(double distance, const ResizeRule& rule, double shrink) {
    if (rule.mode == ResizeMode::cubic) return cubic_weight(distance * shrink, rule.cubic_a);
    return std::max(0.0, 1 - std::fabs(distance * shrink));
}

}  // namespace

ResizeRule ResizeRule::of(const Attributes& attributes, int version) {
    ResizeRule rule;
    if (version < 7 && is_bilinear(attributes))
        rule.mode = ResizeMode::linear;
    else
        rule.mode = word_of<ResizeMode>(attributes, "mode", "nearest", modes);
    if (version < 11) {
        rule.nearest = NearestMode::floor;
        rule.coordinates = CoordinateMode::asymmetric;
        return rule;
    }
    rule.nearest = word_of<NearestMode>(attributes, "nearest_mode", "round_prefer_floor", nearest_modes);
    rule.coordinates =
        word_of<CoordinateMode>(attributes, "coordinate_transformation_mode", "half_pixel", coordinate_modes);
    rule.cubic_a = attributes.real("cubic_coeff_a", -0.75F);
    rule.extrapolation = attributes.real("extrapolation_value", 0.0F);
    rule.exclude_outside = attributes.integer("exclude_outside", 0) != 0;
    rule.antialias = attributes.integer("antialias", 0) != 0;
    if (rule.antialias && rule.mode == ResizeMode::nearest) throw UserError("antialias needs mode linear or cubic");
    return rule;
}

std::vector<Tap> resize_taps(const ResizedAxis& axis, const ResizeRule& rule, int64_t output) {
    const std::optional<double> position = source_position(axis, rule.coordinates, static_cast<double>(output));
    if (!position) return {};
    constexpr double limit = 1e15;  // whole numbers below it are exact and fit an int64
    if (!(std::fabs(*position) < limit)) throw UserError("its scales or region lead outside the number range");
    // The last position before this one, so that an exact hit is at distance 1 from it.
    const auto left = static_cast<int64_t>(std::ceil(*position)) - 1;
    const double ratio = *position - static_cast<double>(left);
    const auto clamped = [&](int64_t index) { return std::clamp(index, int64_t{0}, axis.in - 1); };
    if (rule.mode == ResizeMode::nearest) return {{clamped(takes_right(ratio, rule.nearest) ? left + 1 : left), 1.0}};

    const double shrink = rule.antialias ? std::min(axis.scale, 1.0) : 1.0;
    const double support = rule.mode == ResizeMode::cubic ? 2 : 1;
    const auto first = static_cast<int64_t>(std::floor(-support / shrink)) + 1;
    std::vector<Tap> taps;
    double sum = 0;
    for (int64_t i = first; i < 2 - first; ++i) {
        const bool outside = left + i < 0 || left + i >= axis.in;
        const double weight = weight_of(static_cast<double>(i) - ratio, rule, shrink);
        // Zero weights are dropped: times an infinity they would make NaN.
        if (weight == 0 || (outside && rule.exclude_outside)) continue;
        taps.push_back({clamped(left + i), weight});
        sum += weight;
    }
    if ((rule.antialias || rule.exclude_outside) && sum != 0)
        for (Tap& tap : taps) tap.weight /= sum;
    return taps;
}

}  // namespace headway
