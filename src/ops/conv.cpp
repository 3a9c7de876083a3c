#include "ops/conv.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"

namespace headway {
namespace {

// Where the taps of a run of output positions read, kernel position by kernel position: -1 in the padding.
class TapOffsets {
public:
    explicit TapOffsets(const std::vector<Window>& windows) : windows_(windows) {}

    void start(int64_t first, int64_t count) {
        outputs_.resize(static_cast<size_t>(count));
        for (int64_t i = 0; i < count; ++i) {
            const int64_t position = first + i;
            outputs_[static_cast<size_t>(i)] = {position / (windows_[1].out * windows_[2].out),
                                                position / windows_[2].out % windows_[1].out,
                                                position % windows_[2].out};
        }
        offsets_.resize(outputs_.size());
    }
    const std::vector<int64_t>& at(int64_t kernel_position) {
        const int64_t taps[3] = {kernel_position / (windows_[1].kernel * windows_[2].kernel),
                                 kernel_position / windows_[2].kernel % windows_[1].kernel,
                                 kernel_position % windows_[2].kernel};
        for (size_t i = 0; i < outputs_.size(); ++i) {
            int64_t offset = 0;
            for (size_t axis = 0; axis < 3 && offset >= 0; ++axis) {
                const int64_t position = windows_[axis].position(outputs_[i][axis], taps[axis]);
                offset = position < 0 || position >= windows_[axis].in ? -1 : offset * windows_[axis].in + position;
            }
            offsets_[i] = offset;
        }
        return offsets_;
    }

private:
    const std::vector<Window>& windows_;
    std::vector<std::array<int64_t, 3>> outputs_;
    std::vector<int64_t> offsets_;
};

struct ConvSizes {
    int64_t in_channels, out_channels, taps, in_plane, out_plane;  // channels of one group
};

// One group of one image: rows of x that the taps read are gathered for a run of positions, then multiplied.
void conv_group(const double* x, const double* w, const double* bias, double* y, const std::vector<Window>& windows,
                const ConvSizes& sizes) {
    constexpr int64_t run = 128;  // one column block of multiply()
    const int64_t inner = sizes.in_channels * sizes.taps;
    std::vector<double> gathered = zeros(inner * run);
    std::vector<double> product = zeros(sizes.out_channels * run);
    TapOffsets taps(windows);
    for (int64_t first = 0; first < sizes.out_plane; first += run) {
        const int64_t count = std::min(run, sizes.out_plane - first);
        taps.start(first, count);
        for (int64_t tap = 0; tap < sizes.taps; ++tap) {
            const std::vector<int64_t>& offsets = taps.at(tap);
            for (int64_t channel = 0; channel < sizes.in_channels; ++channel) {
                const double* plane = x + channel * sizes.in_plane;
                double* row = gathered.data() + (channel * sizes.taps + tap) * count;
                for (int64_t i = 0; i < count; ++i)
                    row[i] = offsets[static_cast<size_t>(i)] < 0 ? 0.0 : plane[offsets[static_cast<size_t>(i)]];
            }
        }
        multiply(w, gathered.data(), product.data(), sizes.out_channels, count, inner);
        for (int64_t channel = 0; channel < sizes.out_channels; ++channel)
            for (int64_t i = 0; i < count; ++i)
                y[channel * sizes.out_plane + first + i] =
                    product[static_cast<size_t>(channel * count + i)] + (bias != nullptr ? bias[channel] : 0.0);
    }
}

void infer_conv(InferContext& context) {
    require_same_types(context);
    const Shape& w = context.shape(1);
    Shape y = conv_shape(context.attributes(), context.shape(0), w);
    if (context.has(2) && context.shape(2) != Shape{w[0]})
        throw UserError("its bias does not have one entry per output channel");
    context.set_output(0, context.type(0), std::move(y));
}

void conv_reference(const ReferenceContext& context) {
    const std::vector<double> bias = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>{};
    store_doubles(convolve(context.attributes, {context.in(0).shape(), doubles_of(context.in(0))},
                           {context.in(1).shape(), doubles_of(context.in(1))}, bias),
                  context.out(0));
}

}  // namespace

std::vector<Window> conv_windows(const Attributes& attributes, const Shape& x, const Shape& w) {
    if (w.rank() < 3) throw UserError("its weights have rank " + std::to_string(w.rank()) + ", less than 3");
    const std::vector<int64_t> kernel(w.begin() + 2, w.end());
    if (attributes.integers("kernel_shape", kernel) != kernel) throw UserError("kernel_shape differs from its weights");
    if (std::ranges::any_of(kernel, [](int64_t extent) { return extent < 1; })) throw UserError("its kernel is empty");
    return windows_of(attributes, x, kernel);
}

Shape conv_shape(const Attributes& attributes, const Shape& x, const Shape& w) {
    const std::vector<Window> windows = conv_windows(attributes, x, w);
    const int64_t groups = attributes.integer("group", 1);
    if (groups < 1 || w[0] % groups != 0 || x[1] != checked_mul(w[1], groups, "channels"))
        throw UserError("weights of " + w.text() + " in " + std::to_string(groups) + " groups do not fit an input of " +
                        x.text());
    std::vector<int64_t> dims{x[0], w[0]};
    for (const Window& window : windows) dims.push_back(window.out);
    return Shape(std::move(dims));
}

std::vector<double> convolve(const Attributes& attributes, const ConvOperand& x, const ConvOperand& w,
                             const std::vector<double>& bias) {
    const std::vector<Window> windows = three_axes(conv_windows(attributes, x.shape, w.shape));
    const int64_t groups = attributes.integer("group", 1);
    const ConvSizes sizes{w.shape[1], w.shape[0] / groups, w.shape.elements(2, w.shape.rank()),
                          x.shape.elements(2, x.shape.rank()), windows[0].out * windows[1].out * windows[2].out};
    std::vector<double> y = zeros(x.shape[0] * w.shape[0] * sizes.out_plane);
    for (int64_t image = 0; image < x.shape[0]; ++image)
        for (int64_t group = 0; group < groups; ++group)
            conv_group(x.values.data() + (image * groups + group) * sizes.in_channels * sizes.in_plane,
                       w.values.data() + group * sizes.out_channels * sizes.in_channels * sizes.taps,
                       bias.empty() ? nullptr : bias.data() + group * sizes.out_channels,
                       y.data() + (image * groups + group) * sizes.out_channels * sizes.out_plane, windows, sizes);
    return y;
}

std::vector<AttributeDoc> conv_attributes() {
    return {{"auto_pad", "string", "NOTSET", "NOTSET, SAME_UPPER, SAME_LOWER or VALID"},
            {"dilations", "ints", "1", "distance of taps, per axis"},
            {"group", "int", "1", "groups of channels that do not see each other"},
            {"kernel_shape", "ints", "from the weights", "extents of the kernel"},
            {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
            {"strides", "ints", "1", "distance of windows, per axis"}};
}

const Op conv_op{{
    .name = "Conv",
    .since = {1, 11, 22},
    .inputs = {2, 3},
    .types = float_types,
    .attributes = conv_attributes(),
    .infer = infer_conv,
    .reference = conv_reference,
    .help = "Convolution over one to three axes.",
}};

}  // namespace headway
