#include "ops/work.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "ops/einsum.h"

namespace headway {
namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max();

int64_t product(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? most : result;
}

int64_t sum(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? most : result;
}

using Shapes = std::span<const Shape* const>;

int64_t elements(Shapes shapes) {
    int64_t total = 0;
    for (const Shape* shape : shapes)
        if (shape != nullptr) total = sum(total, shape->elements());
    return total;
}

// The larger of the last two extents: either may be summed over.
int64_t line_of_matrix(const Shape& a) {
    const size_t rank = a.rank();
    return rank == 0 ? 1 : rank == 1 ? a.back() : std::max(a[rank - 1], a[rank - 2]);
}

int64_t elements_per_first(const Shape& shape) {
    return shape.rank() == 0 ? 1 : shape.elements() / std::max<int64_t>(shape[0], 1);
}

// Taps of a window that lie in the image; its first spatial axis is `axis`.
int64_t window_of(const Attributes& attributes, const Shape& image, size_t axis) {
    int64_t taps = 1;
    if (!attributes.has("kernel_shape")) return taps;
    for (int64_t extent : attributes.integers("kernel_shape"))
        if (axis < image.rank()) taps = product(taps, std::max<int64_t>(std::min(extent, image[axis++]), 1));
    return taps;
}

// Elements that each one of a resized image is made of, or that each one of the image goes into: at most four per axis.
int64_t resize_taps(const Shape& from, const Shape& to) {
    int64_t taps = 1;
    for (size_t axis = 0; axis < std::min(from.rank(), to.rank()); ++axis)
        if (from[axis] != to[axis]) taps = product(taps, 4);
    return taps;
}

// Values of each line that is transformed; the longest there is where a value tells the axis.
int64_t transform_line(const Node& node, const Shape& x, bool has_axis) {
    if (x.rank() < 2) return 1;
    if (has_axis) return *std::max_element(x.begin(), x.end());
    const auto rank = static_cast<int64_t>(x.rank());
    int64_t axis = node.version < 20 ? node.attributes.integer("axis", 1) : -2;
    if (axis < 0) axis += rank;
    return axis < 0 || axis >= rank ? 1 : x[static_cast<size_t>(axis)];
}

// All extents of all inputs: no line of any of them is longer.
int64_t lines_of(Shapes inputs) {
    int64_t total = 0;
    for (const Shape* shape : inputs)
        for (size_t axis = 0; shape != nullptr && axis < shape->rank(); ++axis) total = sum(total, (*shape)[axis]);
    return total;
}

// What the reference does beside visiting each element of inputs and outputs once.
int64_t inner_work(const Node& node, Shapes inputs, Shapes outputs) {
    static const Shape absent{0};
    const auto at = [](Shapes shapes, size_t i) -> const Shape& {
        return i < shapes.size() && shapes[i] != nullptr ? *shapes[i] : absent;
    };
    const auto is = [&](auto... words) { return ((node.op == words) || ...); };
    const Shape& x = at(inputs, 0);
    const int64_t in = elements(inputs), out = elements(outputs);
    if (is("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "FusedMatMul", "TransposeMatMul", "FusedGemm", "QGemm",
           "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "MatMulNBits"))
        return product(out, line_of_matrix(x));
    if (is("Conv", "ConvInteger", "FusedConv")) return product(out, elements_per_first(at(inputs, 1)));
    if (is("QLinearConv")) return product(out, elements_per_first(at(inputs, 3)));
    if (is("ConvTranspose")) return product(x.elements(), elements_per_first(at(inputs, 1)));
    if (is("DeformConv")) return product(product(out, 4), elements_per_first(at(inputs, 1)));  // 4 neighbours a tap
    if (is("AveragePool", "LpPool", "MaxPool", "QLinearAveragePool"))
        return product(out, window_of(node.attributes, x, 2));
    if (is("NhwcMaxPool")) return product(out, window_of(node.attributes, x, 1));
    if (is("MaxRoiPool")) return product(out, elements_per_first(x));
    if (is("LRN")) return product(out, x.rank() < 2 ? 1 : x[1]);
    if (is("Resize", "Upsample")) return product(sum(in, out), resize_taps(x, at(outputs, 0)));
    if (is("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"))
        return product(x.elements() / std::max<int64_t>(x.rank() == 0 ? 1 : x.back(), 1),
                       sum(at(inputs, 1).elements(), at(inputs, 2).elements()));
    if (is("Einsum")) {
        std::vector<Shape> shapes;
        for (size_t i = 0; i < inputs.size(); ++i) shapes.push_back(at(inputs, i));
        int64_t walk = static_cast<int64_t>(inputs.size()) + 1;  // each operand in turn, then the sum
        for (const auto& [label, extent] : parse_equation(node.attributes, shapes).extents)
            walk = product(walk, extent);
        return walk;
    }
    if (is("RoiAlign")) {  // four neighbours of each sample; without a ratio, values tell how many there are
        const int64_t samples = node.attributes.integer("sampling_ratio", 0);
        return product(product(out, 4), product(samples, samples));
    }
    if (is("TfIdfVectorizer"))
        return product(in, product(sum(std::min(node.attributes.integer("max_skip_count", 0), in), 1),
                                   std::min(node.attributes.integer("max_gram_length", 1), in)));
    if (is("Unique")) return product(in, 64);  // sorting
    if (is("Det")) return product(in, x.rank() == 0 ? 1 : x.back());
    if (is("DFT")) return product(out, transform_line(node, x, inputs.size() > 2 && inputs[2] != nullptr));
    if (is("STFT")) return product(out, product(2, line_of_matrix(at(outputs, 0))));  // two-sided, twice the bins
    if (is("StridedAttention")) {  // each query of each head with each key, and with its value
        int64_t work = 1;
        for (int64_t extent : node.attributes.integers("batch")) work = product(work, std::max<int64_t>(extent, 0));
        const std::vector<int64_t> extents = node.attributes.integers("extents");
        if (extents.size() != 4) return 0;  // which its shape rule refuses
        for (size_t i : {0, 1}) work = product(work, std::max<int64_t>(extents[i], 0));
        return product(work, sum(std::max<int64_t>(extents[2], 0), std::max<int64_t>(extents[3], 0)));
    }
    // Each element of queries and results goes into sums along some lines of keys, values and weights.
    if (is("Attention", "CausalConvWithState", "FlexAttention", "GroupQueryAttention", "LinearAttention",
           "MultiHeadAttention", "QAttention"))
        return product(sum(x.elements(), out), lines_of(inputs));
    return 0;
}

// The most that may come to it when work depends on values; such references charge what it really is as they go.
int64_t most_by_values(const Node& node, Shapes inputs) {
    if (node.op == "RoiAlign" && node.attributes.integer("sampling_ratio", 0) == 0) return most;
    if (node.op == "NonMaxSuppression" && inputs.size() > 1 && inputs[1] != nullptr && inputs[1]->rank() > 0)
        return product(inputs[1]->elements(), inputs[1]->back());
    return 0;
}

}  // namespace

int64_t reference_work(const Node& node, Shapes inputs, Shapes outputs) {
    return sum(inner_work(node, inputs, outputs), sum(elements(inputs), elements(outputs)));
}

int64_t building_work(const Graph& graph, const Node& node) {
    std::vector<Shape> shapes;
    for (const auto* ids : {&node.inputs, &node.outputs})
        for (ValueId id : *ids) shapes.push_back(id == no_value ? Shape{0} : graph.value(id).shape());
    std::vector<const Shape*> all;
    for (const Shape& shape : shapes) all.push_back(&shape);
    const Shapes inputs = std::span(all).first(node.inputs.size());
    return sum(reference_work(node, inputs, std::span(all).subspan(node.inputs.size())), most_by_values(node, inputs));
}

}  // namespace headway
