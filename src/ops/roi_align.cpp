#include <algorithm>
#include <array>
#include <cmath>

#include "base/call_work.h"
#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/resize_axis.h"

namespace headway {
namespace {

struct RoiRule {
    int64_t height = 1, width = 1;  // of the output
    int64_t samples = 0;            // per axis of each bin; 0: as many as it is wide
    double scale = 1;
    bool largest = false, half_pixel = true;

    static RoiRule of(const Attributes& attributes, int version);
};

RoiRule RoiRule::of(const Attributes& attributes, int version) {
    RoiRule rule;
    rule.height = attributes.integer("output_height", 1);
    rule.width = attributes.integer("output_width", 1);
    rule.samples = attributes.integer("sampling_ratio", 0);
    constexpr int64_t limit = 1 << 12;
    if (rule.height < 1 || rule.height > limit || rule.width < 1 || rule.width > limit || rule.samples < 0 ||
        rule.samples > limit)
        throw UserError("the extents of its output or its sampling_ratio are out of range");
    rule.scale = attributes.real("spatial_scale", 1);
    const std::string mode = attributes.text("mode", "avg");
    if (mode != "avg" && mode != "max") throw UserError("attribute mode has an unknown value");
    rule.largest = mode == "max";
    const std::string coordinates =
        attributes.text("coordinate_transformation_mode", version < 16 ? "output_half_pixel" : "half_pixel");
    if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
        throw UserError("attribute coordinate_transformation_mode has an unknown value");
    rule.half_pixel = coordinates == "half_pixel";
    return rule;
}

void infer_roi_align(InferContext& context) {
    const Shape& x = context.shape(0);
    const Shape& rois = context.shape(1);
    const RoiRule rule = RoiRule::of(context.attributes(), context.version());
    if (context.type(1) != context.type(0)) throw UserError("its input and regions differ in type");
    if (context.type(2) != ElementType::i64) throw UserError("its batch indices are not i64");
    if (x.rank() != 4 || rois.rank() != 2 || rois[1] != 4 || context.shape(2) != Shape{rois[0]})
        throw UserError("regions of " + rois.text() + " and batch indices of " + context.shape(2).text() +
                        " do not fit an input of " + x.text());
    if ((x[2] == 0 || x[3] == 0) && rois[0] != 0) throw UserError("it samples an empty input");
    context.set_output(0, context.type(0), Shape{rois[0], x[1], rule.height, rule.width});
}

// The samples of one region along one axis: `samples` in each of `bins` bins.
struct RoiAxis {
    double start = 0, bin = 0;
    int64_t samples = 0;

    RoiAxis(double from, double to, int64_t bins, const RoiRule& rule) {
        if (!std::isfinite(from) || !std::isfinite(to)) throw UserError("a region is not finite");
        const double offset = rule.half_pixel ? 0.5 : 0;
        start = from * rule.scale - offset;
        double extent = to * rule.scale - offset - start;
        if (!rule.half_pixel) extent = std::max(extent, 1.0);
        bin = extent / static_cast<double>(bins);
        samples = rule.samples;
        if (samples > 0) return;
        // As f32, in which ONNX computes it: in double, whole extents would gain a fraction and a sample.
        const double wanted = std::ceil(static_cast<float>(bin));
        constexpr double limit = 1 << 12;
        if (wanted > limit) throw UserError("a region is too large");
        samples = static_cast<int64_t>(std::max(wanted, 0.0));
    }
    double position(int64_t at, int64_t sample) const {
        return start + static_cast<double>(at) * bin +
               (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
    }
};

// The two neighbours of a position and their weights; none where it lies more than an element outside.
std::vector<Tap> roi_axis_taps(double at, int64_t extent) {
    if (at < -1 || at > static_cast<double>(extent)) return {};
    at = std::clamp(at, 0.0, static_cast<double>(extent - 1));
    const auto low = static_cast<int64_t>(at);
    const double t = at - static_cast<double>(low);
    return {{low, 1 - t}, {std::min(low + 1, extent - 1), t}};
}

// Offset in the plane and weight of the four neighbours of each sample of one bin; weights of zero for a sample
// outside.
std::vector<std::array<Tap, 4>> roi_samples(const RoiAxis& rows, const RoiAxis& columns, int64_t row, int64_t column,
                                            const Shape& x) {
    std::vector<std::array<Tap, 4>> samples;
    for (int64_t i = 0; i < rows.samples; ++i)
        for (int64_t j = 0; j < columns.samples; ++j) {
            const std::vector<Tap> across = roi_axis_taps(columns.position(column, j), x[3]);
            const std::vector<Tap> down = roi_axis_taps(rows.position(row, i), x[2]);
            std::array<Tap, 4> taps{};
            for (size_t k = 0; k < 4 && !across.empty() && !down.empty(); ++k)
                taps[k] = {down[k / 2].index * x[3] + across[k % 2].index, down[k / 2].weight * across[k % 2].weight};
            samples.push_back(taps);
        }
    return samples;
}

// The mean of the samples, or the largest weighted neighbour of any: that is what ONNX's max means.
double pooled_samples(const std::vector<std::array<Tap, 4>>& samples, const double* plane, bool largest) {
    if (samples.empty()) return 0;
    const auto weighted = [&](const Tap& tap) { return tap.weight == 0 ? 0 : tap.weight * plane[tap.index]; };
    double sum = 0;
    double most = weighted(samples[0][0]);
    for (const std::array<Tap, 4>& taps : samples)
        for (const Tap& tap : taps) {
            sum += weighted(tap);
            most = std::max(most, weighted(tap));
        }
    return largest ? most : sum / static_cast<double>(samples.size());
}

void roi_align_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const RoiRule rule = RoiRule::of(context.attributes, context.version);
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> rois = doubles_of(context.in(1));
    const std::vector<int64_t> images = context.in(2).to_int64();
    const int64_t plane = shape[2] * shape[3];
    const int64_t bins = rule.height * rule.width;
    std::vector<double> y = zeros(context.out(0).elements());
    for (size_t roi = 0; roi < images.size(); ++roi) {
        if (images[roi] < 0 || images[roi] >= shape[0])
            throw UserError("batch index " + std::to_string(images[roi]) + " is outside " + std::to_string(shape[0]));
        const RoiAxis columns(rois[roi * 4], rois[roi * 4 + 2], rule.width, rule);
        const RoiAxis rows(rois[roi * 4 + 1], rois[roi * 4 + 3], rule.height, rule);
        for (int64_t bin = 0; bin < bins; ++bin) {
            if (rule.samples == 0)  // else known from the shapes, see reference_work
                charge_reference_work(4 * rows.samples * columns.samples * shape[1]);
            const auto samples = roi_samples(rows, columns, bin / rule.width, bin % rule.width, shape);
            for (int64_t channel = 0; channel < shape[1]; ++channel)
                y[static_cast<size_t>((static_cast<int64_t>(roi) * shape[1] + channel) * bins + bin)] =
                    pooled_samples(samples, x.data() + (images[roi] * shape[1] + channel) * plane, rule.largest);
        }
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op roi_align_op{{
    .name = "RoiAlign",
    .since = {10, 16, 22},
    .inputs = {3, 3},
    .types = float_types,
    .attributes = {{"coordinate_transformation_mode", "string", "half_pixel",
                    "half_pixel or output_half_pixel, the only one before opset 16"},
                   {"mode", "string", "avg", "avg or max"},
                   {"output_height", "int", "1", "rows of the output"},
                   {"output_width", "int", "1", "columns of the output"},
                   {"sampling_ratio", "int", "0", "samples per axis of a bin; 0: as many as it has elements"},
                   {"spatial_scale", "float", "1.0", "factor from coordinates of regions to elements of the input"}},
    .infer = infer_roi_align,
    .reference = roi_align_reference,
    .help = "Regions of the input, each pooled from interpolated samples to one size.",
}};

}  // namespace headway
