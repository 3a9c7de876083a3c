#include "ops/work.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

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

template <class... Words>
bool is_one_of(std::string_view op, Words... words) {
    return ((op == words) || ...);
}

// Multiply-adds of each output element, where the shapes of the operands tell them; 0 where they do not.
int64_t per_output(std::string_view op, Shapes inputs) {
    const auto shape = [&](size_t i) { return i < inputs.size() ? inputs[i] : nullptr; };
    const auto of_matrix = [&](const Shape* a) {
        if (a == nullptr || a->rank() == 0) return int64_t{1};
        const size_t rank = a->rank();
        return rank == 1 ? a->back() : std::max((*a)[rank - 1], (*a)[rank - 2]);  // either may be summed over
    };
    const auto of_filter = [&](const Shape* w) {
        if (w == nullptr || w->rank() == 0) return int64_t{1};
        return w->elements() / std::max<int64_t>((*w)[0], 1);
    };
    if (is_one_of(op, "MatMul", "Gemm", "MatMulInteger", "QLinearMatMul")) return of_matrix(shape(0));
    if (is_one_of(op, "Conv", "ConvInteger")) return of_filter(shape(1));
    if (op == "QLinearConv") return of_filter(shape(3));
    return 0;
}

// Operators whose references visit more than each element of inputs and outputs a few times: some inputs with some
// outputs, or some inputs with each other.
bool is_quadratic(const Node& node) {
    if (!node.domain.empty() && node.domain != "ai.onnx") return true;
    return is_one_of(node.op, "Attention", "AveragePool", "CausalConvWithState", "Col2Im", "ConvTranspose", "DFT",
                     "DeformConv", "Det", "Einsum", "FlexAttention", "GRU", "LRN", "LSTM", "LinearAttention", "LpPool",
                     "MaxPool", "MaxRoiPool", "MelWeightMatrix", "NonMaxSuppression", "RNN", "Resize", "RoiAlign",
                     "STFT", "TfIdfVectorizer", "Unique", "Upsample");
}

}  // namespace

int64_t reference_work(const Node& node, Shapes inputs, Shapes outputs) {
    const int64_t in = elements(inputs), out = elements(outputs), linear = sum(in, out);
    if (is_quadratic(node)) return sum(product(in, linear), linear);
    return sum(product(out, per_output(node.op, inputs)), linear);
}

int64_t building_work(const Graph& graph, const Node& node) {
    std::vector<Shape> shapes;
    for (const auto* ids : {&node.inputs, &node.outputs})
        for (ValueId id : *ids) shapes.push_back(id == no_value ? Shape{0} : graph.value(id).shape());
    std::vector<const Shape*> all;
    for (const Shape& shape : shapes) all.push_back(&shape);
    return reference_work(node, std::span(all).first(node.inputs.size()), std::span(all).subspan(node.inputs.size()));
}

}  // namespace headway
