// Random nodes that sum: convolutions, products, pools, reductions, normalisations, recurrent layers.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "maker.h"

namespace headway::testing {
namespace {

struct Windows {
    std::vector<int64_t> kernel, strides, dilations, pads;
};

// Windows that fit into the spatial axes of x.
Windows random_windows(Maker& maker, const Shape& x, int64_t most_kernel, bool dilates) {
    Windows windows;
    const size_t count = x.rank() - 2;
    const bool plain = maker.rng.coin();  // one kernel for all axes, stride 1, padded to the same size
    const int64_t common = maker.any_of(std::vector<int64_t>{1, 3, 3, 5, 2});
    windows.pads.resize(2 * count);
    for (size_t axis = 0; axis < count; ++axis) {
        const int64_t extent = x[axis + 2];
        int64_t kernel = plain ? std::min(common, most_kernel) : maker.between(1, most_kernel);
        const int64_t dilation = dilates && !plain && maker.rng.chance(0.3) ? 2 : 1;
        int64_t begin = plain ? kernel / 2 : maker.between(0, kernel / 2);
        int64_t end = plain ? kernel / 2 : maker.between(0, kernel / 2);
        if (extent + begin + end < (kernel - 1) * dilation + 1) kernel = 1, begin = 0, end = 0;
        windows.kernel.push_back(kernel);
        windows.strides.push_back(plain || maker.rng.coin() ? 1 : maker.between(1, 3));
        windows.dilations.push_back(dilation);
        windows.pads[axis] = begin;
        windows.pads[count + axis] = end;
    }
    return windows;
}

bool is_image(const Maker& maker, ValueId id, size_t most_rank) {
    const Shape shape = maker.shape(id);
    return maker.is_f32(id) && shape.rank() >= 3 && shape.rank() <= most_rank && shape.elements(1, shape.rank()) > 0;
}

int64_t random_group(Maker& maker, int64_t channels) {
    if (maker.rng.coin()) return 1;
    if (maker.rng.coin()) return channels;
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= channels; ++d)
        if (channels % d == 0) divisors.push_back(d);
    return maker.any_of(divisors);
}

}  // namespace

void make_convolution(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) { return is_image(maker, id, 5); });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const Windows windows = random_windows(maker, shape, 5, true);
    const int64_t group = random_group(maker, shape[1]);
    const int64_t out = group == 1 ? maker.channel_count() : group * maker.between(1, group > 8 ? 1 : 3);
    std::vector<int64_t> dims{out, shape[1] / group};
    dims.insert(dims.end(), windows.kernel.begin(), windows.kernel.end());
    const Shape weights(dims);
    const double deviation = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, weights.elements() / out)));
    std::vector<ValueId> inputs{*x, maker.floats(weights, deviation)};
    if (maker.rng.coin()) inputs.push_back(maker.floats({out}));
    if (maker.rng.chance(0.1)) {
        const bool dilated = std::ranges::any_of(windows.dilations, [](int64_t d) { return d > 1; });
        maker.add("Conv", inputs,
                  {{"auto_pad", std::string(maker.rng.coin() ? "SAME_UPPER" : "SAME_LOWER")},
                   {"strides", dilated ? std::vector<int64_t>(windows.strides.size(), 1) : windows.strides},
                   {"dilations", windows.dilations},
                   {"group", group}});
        return;
    }
    maker.add(
        "Conv", inputs,
        {{"pads", windows.pads}, {"strides", windows.strides}, {"dilations", windows.dilations}, {"group", group}});
}

void make_transposed_convolution(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        return is_image(maker, id, 4) && maker.shape(id).elements() < 2000 && maker.shape(id).elements() > 0;
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const size_t count = shape.rank() - 2;
    const int64_t group = random_group(maker, shape[1]);
    std::vector<int64_t> dims{shape[1], group == shape[1] && group > 1 ? 1 : maker.between(1, 8)}, strides,
        pads(2 * count), extra;
    const bool exact_blocks = maker.rng.coin();  // kernel = stride
    for (size_t axis = 0; axis < count; ++axis) {
        const int64_t stride = maker.between(1, 3), kernel = exact_blocks ? stride : maker.between(1, 4);
        dims.push_back(kernel);
        strides.push_back(stride);
        extra.push_back(stride > 1 && maker.rng.chance(0.3) ? 1 : 0);
        // The result must not become empty.
        if (kernel > 1 && shape[axis + 2] > 1) pads[axis] = maker.between(0, kernel / 2);
    }
    std::vector<ValueId> inputs{*x, maker.floats(Shape(dims), 0.5)};
    if (maker.rng.coin()) inputs.push_back(maker.floats({dims[1] * group}));
    maker.add("ConvTranspose", inputs,
              {{"strides", strides}, {"pads", pads}, {"output_padding", extra}, {"group", group}});
}

void make_product(Maker& maker) {
    if (maker.special()) return;
    const auto a = maker.pick_f32(1, 4);
    if (!a) return;
    const Shape shape = maker.shape(*a);
    const int64_t depth = shape.back(), columns = maker.channel_count();
    const double deviation = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, depth)));
    if (shape.rank() == 2 && maker.rng.coin()) {
        const int64_t trans_a = maker.rng.chance(0.2) ? 1 : 0, trans_b = maker.rng.coin() ? 1 : 0;
        const int64_t inner = trans_a != 0 ? shape[0] : shape[1], rows = trans_a != 0 ? shape[1] : shape[0];
        std::vector<ValueId> inputs{
            *a, maker.floats(trans_b != 0 ? Shape{columns, inner} : Shape{inner, columns}, deviation)};
        if (maker.rng.chance(0.7)) inputs.push_back(maker.floats(maker.broadcast_part({rows, columns})));
        maker.add("Gemm", inputs,
                  {{"transA", trans_a},
                   {"transB", trans_b},
                   {"alpha", maker.rng.chance(0.2) ? 0.5F : 1.0F},
                   {"beta", maker.rng.chance(0.2) ? 2.0F : 1.0F}});
        return;
    }
    // Another value whose rows fit, else constant weights: a matrix, a stack of them, or a vector.
    const auto other = maker.pick([&](ValueId id) {
        const Shape b = maker.shape(id);
        return maker.is_f32(id) && b.rank() == 2 && b[0] == depth;
    });
    if (maker.rng.chance(0.1) && shape.rank() >= 2) {
        // Constant weights from the left, as exporters of column vectors write them.
        const int64_t rows = shape[shape.rank() - 2];
        maker.one("MatMul", {maker.floats({columns, rows}, 1 / std::sqrt(1.0 + static_cast<double>(rows))), *a});
        return;
    }
    ValueId b = no_value;
    if (other && maker.rng.coin())
        b = *other;
    else if (maker.rng.chance(0.1))
        b = maker.floats({depth}, deviation);
    else if (shape.rank() == 3 && maker.rng.chance(0.2))
        b = maker.floats({shape[0], depth, columns}, deviation);
    else
        b = maker.floats({depth, columns}, deviation);
    const ValueId product = maker.one("MatMul", {*a, b});
    if (maker.rng.coin() && maker.shape(product).rank() > 0)
        maker.one("Add", {product, maker.floats({maker.shape(product).back()})});
}

void make_pool(Maker& maker) {
    const auto x = maker.pick([&](ValueId id) { return is_image(maker, id, 5); });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    if (!maker.special() && maker.rng.chance(0.3)) {
        maker.one(maker.any_word({"GlobalAveragePool", "GlobalMaxPool"}), {*x});
        return;
    }
    const Windows windows = random_windows(maker, shape, 3, false);
    const int64_t ceil_mode = maker.rng.chance(0.3) ? 1 : 0;
    if (maker.special() || maker.rng.coin())
        maker.add("MaxPool", {*x},
                  {{"kernel_shape", windows.kernel},
                   {"strides", windows.strides},
                   {"pads", windows.pads},
                   {"ceil_mode", ceil_mode}});
    else
        maker.add("AveragePool", {*x},
                  {{"kernel_shape", windows.kernel},
                   {"strides", windows.strides},
                   {"pads", windows.pads},
                   {"ceil_mode", ceil_mode},
                   {"count_include_pad", int64_t{maker.rng.coin() ? 1 : 0}}});
}

void make_normalization(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() >= 2 && shape.rank() <= 5 && shape.elements() > 0;
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const int64_t channels = shape[1];
    switch (maker.rng.below(6)) {
        case 0:
        case 1:
            maker.add("BatchNormalization",
                      {*x, maker.floats({channels}), maker.floats({channels}), maker.floats({channels}),
                       maker.positive({channels})},
                      {}, 1, {}, 15);
            return;
        case 2:
            if (shape.rank() > 2)
                maker.one("InstanceNormalization", {*x, maker.floats({channels}), maker.floats({channels})},
                          {{"epsilon", 1e-2F}});
            return;
        case 3: {
            const auto axis = maker.between(0, static_cast<int64_t>(shape.rank()) - 1);
            const Shape part(std::vector<int64_t>(shape.begin() + axis, shape.end()));
            std::vector<ValueId> inputs{*x, maker.floats(part)};
            if (maker.rng.coin()) inputs.push_back(maker.floats(part));
            maker.add(
                "LayerNormalization", inputs,
                {{"axis", maker.rng.coin() ? axis : axis - static_cast<int64_t>(shape.rank())}, {"epsilon", 1e-2F}});
            return;
        }
        case 4: {
            const int64_t groups = random_group(maker, channels);
            if (shape.rank() > 2)
                maker.one("GroupNormalization", {*x, maker.floats({channels}), maker.floats({channels})},
                          {{"num_groups", groups}, {"epsilon", 1e-2F}}, 21);
            return;
        }
        default:
            if (shape.rank() > 2) maker.one("LRN", {*x}, {{"size", int64_t{3}}});
    }
}

void make_softmax(Maker& maker) {
    const auto x = maker.pick(
        [&](ValueId id) { return maker.is_f32(id) && maker.shape(id).rank() > 0 && maker.shape(id).elements() > 0; });
    if (!x) return;
    const auto rank = static_cast<int64_t>(maker.shape(*x).rank());
    maker.one(maker.rng.chance(0.8) ? "Softmax" : "LogSoftmax", {*x}, {{"axis", maker.between(-rank, rank - 1)}});
}

void make_reduction(Maker& maker) {
    const auto x = maker.pick([&](ValueId id) { return maker.is_f32(id) && maker.shape(id).elements() > 0; });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    std::vector<int64_t> axes;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
        if (maker.rng.coin())
            axes.push_back(static_cast<int64_t>(axis) - (maker.rng.coin() ? static_cast<int64_t>(shape.rank()) : 0));
    const int64_t keepdims = maker.rng.coin() ? 1 : 0;
    const std::string_view op = maker.special()
                                    ? maker.any_word({"ReduceMax", "ReduceMin"})
                                    : maker.any_word({"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin",
                                                      "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"});
    if (axes.empty() && maker.rng.coin())
        maker.one(op, {*x}, {{"keepdims", keepdims}});
    else if (op == "ReduceSum" || maker.rng.coin())
        maker.one(op, {*x, maker.integers(axes)},
                  {{"keepdims", keepdims}, {"noop_with_empty_axes", int64_t{maker.rng.coin() ? 1 : 0}}}, 20);
    else if (!axes.empty())
        maker.one(op, {*x}, {{"keepdims", keepdims}, {"axes", axes}});
}

void make_recurrent(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() == 3 && shape.elements() > 0 && shape.elements() < 1500;
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const int64_t hidden = maker.any_of(std::vector<int64_t>{1, 3, 8, 17});
    const std::string_view op = maker.any_word({"LSTM", "LSTM", "GRU", "RNN"});
    const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
    const std::string_view direction = maker.any_word({"forward", "reverse", "bidirectional"});
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    std::vector<ValueId> inputs{*x, maker.floats({directions, gates * hidden, shape[2]}, 0.3),
                                maker.floats({directions, gates * hidden, hidden}, 0.3)};
    if (maker.rng.coin()) inputs.push_back(maker.floats({directions, 2 * gates * hidden}, 0.3));
    std::vector<size_t> absent;
    const size_t outputs = op == "LSTM" ? 3 : 2;
    for (size_t i = 0; i < outputs; ++i)
        if (maker.rng.chance(0.3)) absent.push_back(i);
    if (absent.size() == outputs) absent.pop_back();
    maker.add(op, inputs, {{"hidden_size", hidden}, {"direction", std::string(direction)}}, outputs, absent, 14);
}

}  // namespace headway::testing
