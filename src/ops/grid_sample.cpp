#include <algorithm>
#include <array>
#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/resize_axis.h"

namespace headway {
namespace {

enum class GridMode { nearest, linear, cubic };
enum class GridPadding { zeros, border, reflection };

struct GridRule {
    GridMode mode = GridMode::linear;
    GridPadding padding = GridPadding::zeros;
    bool align_corners = false;

    static GridRule of(const Attributes& attributes);
};

GridRule GridRule::of(const Attributes& attributes) {
    GridRule rule;
    // Before opset 20 linear and cubic were named for two axes, the only case then.
    const std::string mode = attributes.text("mode", "linear");
    if (mode == "nearest")
        rule.mode = GridMode::nearest;
    else if (mode == "cubic" || mode == "bicubic")
        rule.mode = GridMode::cubic;
    else if (mode != "linear" && mode != "bilinear")
        throw UserError("attribute mode has an unknown value");
    const std::string padding = attributes.text("padding_mode", "zeros");
    if (padding == "border")
        rule.padding = GridPadding::border;
    else if (padding == "reflection")
        rule.padding = GridPadding::reflection;
    else if (padding != "zeros")
        throw UserError("attribute padding_mode has an unknown value");
    rule.align_corners = attributes.integer("align_corners", 0) != 0;
    return rule;
}

void infer_grid_sample(InferContext& context) {
    const Shape& x = context.shape(0);
    const Shape& grid = context.shape(1);
    GridRule::of(context.attributes());
    if (!float_types.contains(context.type(1))) throw UserError("its grid is not floating point");
    if (x.rank() < 3 || grid.rank() != x.rank() || grid[0] != x[0] || grid.back() != static_cast<int64_t>(x.rank()) - 2)
        throw UserError("a grid of " + grid.text() + " does not fit an input of " + x.text());
    std::vector<int64_t> dims{x[0], x[1]};
    dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
    const Shape y(std::move(dims));
    if (x.elements(2, x.rank()) == 0 && y.elements() != 0) throw UserError("it samples an empty input");
    context.set_output(0, context.type(0), y);
}

// Back and forth between two borders until inside.
double grid_reflected(double x, double low, double high) {
    const double range = high - low;
    if (range <= 0) return low;
    const double folded = std::fmod(std::fabs(x - low), 2 * range);
    return low + (folded <= range ? folded : 2 * range - folded);
}

// One axis of the input, as the grid sees it.
struct GridAxis {
    int64_t extent = 1;
    double low = 0, high = 0;  // where reflection turns

    GridAxis(int64_t count, const GridRule& rule) : extent(count) {
        low = rule.align_corners ? 0 : -0.5;
        high = static_cast<double>(count) - (rule.align_corners ? 1 : 0.5);
    }
    // From [-1, 1] to positions of elements, made to lie inside as far as the padding says so.
    double position(double x, const GridRule& rule) const {
        const auto count = static_cast<double>(extent);
        double at = rule.align_corners ? (x + 1) / 2 * (count - 1) : ((x + 1) * count - 1) / 2;
        // ONNX rounds the position as f32: in double, ties would fall otherwise.
        if (rule.mode == GridMode::nearest) at = std::nearbyint(static_cast<float>(at));
        // Cubic borders are those of each element that is read, as in the frameworks that models come from: ONNX's
        // reference moves the position instead, which only matters half an element around the border.
        if (rule.padding == GridPadding::border && rule.mode != GridMode::cubic) at = std::clamp(at, 0.0, count - 1);
        if (rule.padding == GridPadding::reflection && (at < low || at > high)) at = grid_reflected(at, low, high);
        // Further out there are only zeros.
        return std::clamp(at, -4.0, count + 4);
    }
    // The element at a whole position, or -1 for a zero.
    int64_t element(int64_t at, GridPadding padding) const {
        if (at >= 0 && at < extent) return at;
        if (padding == GridPadding::zeros) return -1;
        if (padding == GridPadding::border) return std::clamp<int64_t>(at, 0, extent - 1);
        return std::clamp<int64_t>(static_cast<int64_t>(grid_reflected(static_cast<double>(at), low, high)), 0,
                                   extent - 1);
    }
};

// Weights of the elements at -1, 0, 1 and 2 for a position t in [0, 1), by cubic convolution (Keys 1981) with -0.75.
std::array<double, 4> grid_cubic_weights(double t) {
    constexpr double a = -0.75;
    const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

std::vector<Tap> grid_axis_taps(double x, const GridAxis& axis, const GridRule& rule) {
    const double at = axis.position(x, rule);
    if (std::isnan(at)) return {{0, at}};
    const auto first = static_cast<int64_t>(std::floor(at));
    const double t = at - std::floor(at);
    std::vector<Tap> taps;
    const auto add = [&](int64_t position, double weight) {
        const int64_t element = axis.element(position, rule.padding);
        if (element >= 0) taps.push_back({element, weight});
    };
    if (rule.mode == GridMode::nearest) {
        add(first, 1);
    } else if (rule.mode == GridMode::linear) {
        add(first, 1 - t);
        add(first + 1, t);
    } else {
        const std::array<double, 4> weights = grid_cubic_weights(t);
        for (size_t i = 0; i < weights.size(); ++i) add(first - 1 + static_cast<int64_t>(i), weights[i]);
    }
    return taps;
}

// Offsets in a plane and weights of all that one grid point reads; its coordinates run from the innermost axis
// outwards.
std::vector<Tap> grid_taps(const double* point, const std::vector<GridAxis>& axes, const GridRule& rule) {
    std::vector<Tap> taps{{0, 1}};
    for (size_t i = 0; i < axes.size(); ++i) {
        std::vector<Tap> wider;
        const std::vector<Tap> along = grid_axis_taps(point[axes.size() - 1 - i], axes[i], rule);
        for (const Tap& tap : taps)
            for (const Tap& next : along)
                wider.push_back({tap.index * axes[i].extent + next.index, tap.weight * next.weight});
        taps = std::move(wider);
    }
    return taps;
}

void grid_sample_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    const Shape& shape = context.in(0).shape();
    const GridRule rule = GridRule::of(context.attributes);
    std::vector<GridAxis> axes;
    for (size_t i = 2; i < shape.rank(); ++i) axes.emplace_back(shape[i], rule);
    const int64_t plane = shape.elements(2, shape.rank());
    const Shape& out = context.out(0).shape();
    const int64_t points = out.elements(2, out.rank());
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> grid = doubles_of(context.in(1));
    std::vector<double> y = zeros(out.elements());
    for (int64_t image = 0; image < shape[0]; ++image)
        for (int64_t i = 0; i < points; ++i) {
            const double* point = grid.data() + (image * points + i) * static_cast<int64_t>(axes.size());
            const std::vector<Tap> taps = grid_taps(point, axes, rule);
            for (int64_t channel = image * shape[1]; channel < (image + 1) * shape[1]; ++channel) {
                double sum = 0;
                for (const Tap& tap : taps) sum += tap.weight * x[static_cast<size_t>(channel * plane + tap.index)];
                y[static_cast<size_t>(channel * points + i)] = sum;
            }
        }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op grid_sample_op{{
    .name = "GridSample",
    .since = {16, 20, 22},
    .inputs = {2, 2},
    // 64-bit integers do not survive as doubles.
    .types = float_types | TypeSet{ElementType::i8, ElementType::i16, ElementType::i32, ElementType::u8,
                                   ElementType::u16, ElementType::u32},
    .attributes = {{"align_corners", "int", "0",
                    "1: -1 and 1 are the centres of the outermost elements, else their "
                    "outer edges"},
                   {"mode", "string", "linear", "nearest, linear or cubic (bilinear or bicubic before opset 20)"},
                   {"padding_mode", "string", "zeros", "what lies outside: zeros, border or reflection"}},
    .infer = infer_grid_sample,
    .reference = grid_sample_reference,
    .help = "The input sampled at the positions that a grid holds; a position that is NaN gives NaN.",
}};

}  // namespace headway
