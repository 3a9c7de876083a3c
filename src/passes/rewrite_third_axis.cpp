// Convolutions and poolings over three spatial axes become those over two, which have kernels. A pooling is taken axis
// by axis; a convolution is a sum over the taps of its first axis, each a convolution of all planes as a batch.
#include <algorithm>

#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/replacement.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_third_axis",
    .help = "Computes three-dimensional convolutions and poolings by two-dimensional ones; off: by plain code.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "conv_3d",
}};

// Exchanges axes 1 and 2.
Attributes turn() { return attributes_with({}, "perm", std::vector<int64_t>{0, 2, 1, 3, 4}); }

Attributes windows_as_attributes(const Window& y, const Window& x) {
    Attributes attributes;
    attributes.set("kernel_shape", std::vector<int64_t>{y.kernel, x.kernel});
    attributes.set("strides", std::vector<int64_t>{y.stride, x.stride});
    attributes.set("pads", std::vector<int64_t>{y.begin, x.begin, y.end, x.end});
    return attributes;
}

std::vector<int64_t> dilations_of(const Window& y, const Window& x) { return {y.dilation, x.dilation}; }

// AveragePool has dilations from opset 19 on; the passes write an older one.
bool is_separable_pool(const Node& node, const std::vector<Window>& windows) {
    if (node.attributes.integer("ceil_mode", 0) != 0) return false;
    if (is_op(node, "MaxPool")) return node.outputs.size() < 2 || node.outputs[1] == no_value;
    return std::ranges::all_of(windows, [](const Window& window) { return window.dilation == 1; });
}

void split_pool(Replacement& build, const std::vector<Window>& windows) {
    const Node& node = build.node();
    const Shape x = build.graph().value(node.inputs[0]).shape();
    const std::string& op = node.op;
    const auto pool = [&](const Window& a, const Window& b) {
        Attributes attributes = windows_as_attributes(a, b);
        if (op == "MaxPool")
            attributes.set("dilations", dilations_of(a, b));
        else
            attributes.set("count_include_pad", node.attributes.integer("count_include_pad", 0));
        return attributes;
    };
    const ValueId planes = build.reshaped(node.inputs[0], {x[0], x[1] * x[2], x[3], x[4]});
    const ValueId narrow = build.make(op, {planes}, pool(windows[1], windows[2]));
    const int64_t pixels = windows[1].out * windows[2].out;
    const ValueId columns = build.reshaped(narrow, {x[0], x[1], x[2], pixels});
    Window none;
    none.in = none.out = pixels;
    const ValueId short_columns = build.make(op, {columns}, pool(windows[0], none));
    build.finish("Reshape",
                 {short_columns, build.integers({x[0], x[1], windows[0].out, windows[1].out, windows[2].out})});
}

// The planes that tap `tap` of the first axis meets, one for each output plane: [N, D', C, H, W] of padded [N, D, ...].
ValueId planes_of_tap(Replacement& build, ValueId padded, const Window& depth, int64_t tap) {
    const int64_t first = tap * depth.dilation, last = first + (depth.out - 1) * depth.stride + 1;
    if (first == 0 && depth.stride == 1 && last == depth.in + depth.begin + depth.end) return padded;
    return build.make("Slice", {padded, build.integers({first}), build.integers({last}), build.integers({1}),
                                build.integers({depth.stride})});
}

ValueId weights_of_tap(Replacement& build, const Tensor& weights, int64_t tap) {
    const Shape& w = weights.shape();
    const int64_t plane = w[3] * w[4];
    std::vector<double> values;
    values.reserve(static_cast<size_t>(w[0] * w[1] * plane));
    for (int64_t filter = 0; filter < w[0] * w[1]; ++filter)
        for (int64_t i = 0; i < plane; ++i) values.push_back(weights.at((filter * w[2] + tap) * plane + i));
    return add_floats(build.graph(), build.node().origins.front() + ".weights", {w[0], w[1], w[3], w[4]}, values);
}

void split_conv(Replacement& build, const std::vector<Window>& windows, const Tensor& weights) {
    const Node& node = build.node();
    const Shape x = build.graph().value(node.inputs[0]).shape();
    const Window& depth = windows[0];
    ValueId padded = build.make("Transpose", {node.inputs[0]}, turn());
    if (depth.begin != 0 || depth.end != 0)
        padded = build.make("Pad", {padded, build.integers({0, depth.begin, 0, 0, 0, 0, depth.end, 0, 0, 0})});
    Attributes attributes = windows_as_attributes(windows[1], windows[2]);
    attributes.set("dilations", dilations_of(windows[1], windows[2]));
    attributes.set("group", node.attributes.integer("group", 1));
    ValueId sum = no_value;
    for (int64_t tap = 0; tap < depth.kernel; ++tap) {
        const ValueId planes =
            build.reshaped(planes_of_tap(build, padded, depth, tap), {x[0] * depth.out, x[1], x[3], x[4]});
        std::vector<ValueId> inputs{planes, weights_of_tap(build, weights, tap)};
        if (tap == 0 && input_of(node, 2) != no_value) inputs.push_back(node.inputs[2]);
        const ValueId part = build.make("Conv", std::move(inputs), attributes);
        sum = tap == 0 ? part : build.make("Add", {part, sum});
    }
    const ValueId result = build.reshaped(sum, {x[0], depth.out, weights.shape()[0], windows[1].out, windows[2].out});
    build.finish("Transpose", {result}, turn());
}

bool rewrite(PassContext& context, const Node& node) {
    const bool conv = is_op(node, "Conv");
    if (!conv && !is_op(node, "MaxPool") && !is_op(node, "AveragePool")) return false;
    const Value& x = context.graph.value(node.inputs[0]);
    const Value& y = context.graph.value(node.outputs[0]);
    if (x.shape().rank() != 5 || x.type != ElementType::f32 || y.shape().elements() == 0) return false;
    const auto refuse = [&](Verdict verdict) {
        context.refused(node.origins.front(), "two axes", std::move(verdict));
        return false;
    };
    Replacement build(context, node);
    if (!conv) {
        const std::vector<Window> windows =
            windows_of(node.attributes, x.shape(), node.attributes.integers("kernel_shape"));
        if (!is_separable_pool(node, windows))
            return refuse(Verdict::no(Reason::attribute, "ceil_mode, dilations or indices"));
        split_pool(build, windows);
    } else {
        const Tensor* weights = known(context.graph, node.inputs[1]);
        if (weights == nullptr) return refuse(Verdict::no(Reason::needs_constant, "weights that are not constant"));
        const Shape& w = weights->shape();
        split_conv(build, windows_of(node.attributes, x.shape(), {w[2], w[3], w[4]}), Tensor(*weights));
    }
    context.taken(node.origins.front(), "two axes");
    return true;
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) { return rewrite(context, Node(context.graph.node(id))); });
}

const Pass rewrite_third_axis{{
    .name = "rewrite_third_axis",
    .help = "Turns operators over three spatial axes into operators over two.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
