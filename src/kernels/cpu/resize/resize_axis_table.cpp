#include "kernels/cpu/resize/resize_axis_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {
namespace {

struct Modes {
    std::string mode, coordinates, nearest;
};

// Before opset 11 positions are asymmetric and rounded down.
Modes modes_of(const Problem& problem) {
    const Attributes& attributes = problem.attributes;
    if (problem.version < 11) return {attributes.text("mode", "nearest"), "asymmetric", "floor"};
    return {attributes.text("mode", "nearest"), attributes.text("coordinate_transformation_mode", "half_pixel"),
            attributes.text("nearest_mode", "round_prefer_floor")};
}

Verdict check_modes(const Problem& problem, const Modes& modes) {
    constexpr const char* coordinates[] = {"half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"};
    constexpr const char* nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    if (modes.mode != "nearest" && modes.mode != "linear") return Verdict::no(Reason::attribute, "mode " + modes.mode);
    if (std::ranges::find(coordinates, modes.coordinates) == std::end(coordinates))
        return Verdict::no(Reason::attribute, "coordinates " + modes.coordinates);
    if (std::ranges::find(nearest, modes.nearest) == std::end(nearest))
        return Verdict::no(Reason::attribute, "nearest_mode " + modes.nearest);
    for (const char* name : {"antialias", "exclude_outside"})
        if (problem.attributes.integer(name, 0) != 0) return Verdict::no(Reason::attribute, name);
    if (problem.attributes.has("axes")) return Verdict::no(Reason::attribute, "axes");
    if (problem.attributes.text("keep_aspect_ratio_policy", "stretch") != "stretch")
        return Verdict::no(Reason::attribute, "keep_aspect_ratio_policy");
    return Verdict::yes();
}

// Scales as given, or the ratio of the shapes where sizes are.
Verdict scales_of(const Problem& problem, std::vector<double>& scales) {
    const Shape& src = problem.src[0]->shape;
    const Shape& dst = problem.dst[0].shape;
    const size_t input = problem.version < 11 ? 1 : 2;
    std::vector<float> given = problem.attributes.reals("scales");
    if (problem.src.size() > input && problem.src[input] && problem.src[input]->shape.elements() != 0) {
        const auto known = constant_reals(problem, input);
        if (!known) return Verdict::no(Reason::needs_constant, "scales that are not known");
        given = *known;
    }
    for (size_t axis = 0; axis < src.rank(); ++axis) {
        if (!given.empty() && given.size() != src.rank())
            return Verdict::no(Reason::attribute, "scales of another rank");
        if (src[axis] == 0) return Verdict::no(Reason::shape, "an empty input");
        scales.push_back(given.empty() ? static_cast<double>(dst[axis]) / static_cast<double>(src[axis])
                                       : static_cast<double>(given[axis]));
        if (!(scales.back() > 0)) return Verdict::no(Reason::attribute, "a scale that is not positive");
    }
    if (src[0] != dst[0] || src[1] != dst[1] || scales[0] != 1 || scales[1] != 1)
        return Verdict::no(Reason::shape, "batch or channels resized");
    return Verdict::yes();
}

double source_position(const std::string& mode, double x, double in, double scale) {
    const double out = scale * in;
    if (mode == "asymmetric") return x / scale;
    if (mode == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
    if (mode == "pytorch_half_pixel" && out == 1) return -0.5;
    return (x + 0.5) / scale - 0.5;
}

double rounded(const std::string& mode, double position) {
    if (mode == "floor") return std::floor(position);
    if (mode == "ceil") return std::ceil(position);
    return mode == "round_prefer_ceil" ? std::floor(position + 0.5) : std::ceil(position - 0.5);
}

ResizeTable table_of(const Modes& modes, int64_t in, int64_t out, double scale) {
    ResizeTable table;
    const auto clamped = [&](double position) {
        return static_cast<int32_t>(std::clamp(position, 0.0, static_cast<double>(in - 1)));
    };
    for (int64_t o = 0; o < out; ++o) {
        const double position =
            source_position(modes.coordinates, static_cast<double>(o), static_cast<double>(in), scale);
        const bool linear = modes.mode == "linear";
        const double left = linear ? std::floor(position) : rounded(modes.nearest, position);
        table.left.push_back(clamped(left));
        // Beyond the ends both neighbours are the end itself.
        table.right.push_back(linear ? clamped(left + 1) : table.left.back());
        table.weight.push_back(linear && table.right.back() != table.left.back() ? static_cast<float>(position - left)
                                                                                 : 0.0F);
    }
    if (modes.mode == "linear" || out % in != 0) return table;
    const int64_t times = out / in;
    bool repeats = times > 0;
    for (int64_t o = 0; o < out && repeats; ++o) repeats = table.left[static_cast<size_t>(o)] == o / times;
    table.times = repeats ? times : 0;
    return table;
}

}  // namespace

Verdict ResizeRules::make(const Problem& problem, ResizeRules& rules) {
    const Shape& src = problem.src[0]->shape;
    const Shape& dst = problem.dst[0].shape;
    if (src.rank() < 3 || src.rank() > 4 || dst.rank() != src.rank())
        return Verdict::no(Reason::shape, "rank " + std::to_string(src.rank()));
    const Modes modes = modes_of(problem);
    if (Verdict verdict = check_modes(problem, modes); !verdict) return verdict;
    std::vector<double> scales;
    if (Verdict verdict = scales_of(problem, scales); !verdict) return verdict;
    for (size_t axis = 2; axis < src.rank(); ++axis)
        if (std::max(src[axis], dst[axis]) > std::numeric_limits<int32_t>::max())
            return Verdict::no(Reason::limit, "an axis of more than 2^31 positions");
    const size_t last = src.rank() - 1;
    rules = {modes.mode == "linear", {}, table_of(modes, src[last], dst[last], scales[last])};
    rules.y = src.rank() == 4 ? table_of(modes, src[2], dst[2], scales[2]) : ResizeTable{{0}, {0}, {0}, 1};
    return Verdict::yes();
}

}  // namespace headway
