#include "rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/rng.h"

namespace headway::testing {
namespace {

constexpr int runs = 6;              // that none of them moves an element is then as rare as one in 10^8
constexpr double factor = 8;         // the largest of a few random moves is not the largest possible one
constexpr double input_move = 1e-6;  // about eight units in the last place
constexpr double floor_move = 1e-6;  // of the largest element of an output

bool rounds_to_steps(std::string_view op) {
    return op == "QuantizeLinear" || op == "QLinearConv" || op == "QLinearMatMul" || op == "DynamicQuantizeLinear";
}

bool is_linear(std::string_view op) {
    return op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm" || op == "Einsum";
}

bool is_recurrent(std::string_view op) { return op == "LSTM" || op == "GRU" || op == "RNN"; }

// What one type can tell apart, relative to the value.
double resolution(ElementType type) {
    if (type == ElementType::f16) return 0x1p-10;
    if (type == ElementType::bf16) return 0x1p-7;
    return 0;
}

// How many terms one element of the result sums.
double terms(const Graph& graph, const Node& node, const std::vector<Tensor>& outputs) {
    const auto elements = [&](size_t i) {
        return i < node.inputs.size() && node.inputs[i] != no_value
                   ? static_cast<double>(graph.value(node.inputs[i]).shape().elements())
                   : 0.0;
    };
    const Shape first = graph.value(node.inputs[0]).shape();
    if (node.op == "Conv" || node.op == "ConvTranspose") {
        const Shape weights = graph.value(node.inputs[1]).shape();
        return std::max(1.0, elements(1) / static_cast<double>(std::max<int64_t>(1, weights[0])));
    }
    if (is_recurrent(node.op)) return std::max(1.0, static_cast<double>(first[0]) * std::sqrt(elements(2)));
    if (is_linear(node.op) && first.rank() > 0) return static_cast<double>(*std::ranges::max_element(first.dims()));
    double results = 1;
    for (const Tensor& output : outputs) results = std::max(results, static_cast<double>(output.elements()));
    return std::max(1.0, elements(0) / results);
}

double largest(const Tensor& tensor) {
    double result = 0;
    for (int64_t i = 0; i < tensor.elements(); ++i)
        if (std::isfinite(tensor.at(i))) result = std::max(result, std::abs(tensor.at(i)));
    return result;
}

class Shaken {
public:
    Shaken(const Graph& graph, const Registry<Op>& ops, double operand_move)
        : graph_(graph), ops_(ops), operand_move_(std::max(operand_move, input_move)) {}

    std::vector<Tensor> run(const std::vector<Tensor>& inputs, uint64_t seed) {
        rng_ = Rng(seed);
        const auto count = static_cast<size_t>(graph_.value_count());
        values_.assign(count, {});
        exact.assign(count, true);
        for (ValueId id = 0; id < graph_.value_count(); ++id)
            if (graph_.is_constant(id)) values_[static_cast<size_t>(id)] = *graph_.constant(id);
        for (size_t i = 0; i < inputs.size(); ++i) values_[static_cast<size_t>(graph_.inputs[i])] = inputs[i];
        for (NodeId id : graph_.topological_order()) run_node(graph_.node(id));
        std::vector<Tensor> outputs;
        for (ValueId output : graph_.outputs) outputs.push_back(values_[static_cast<size_t>(output)]);
        return outputs;
    }

    std::vector<bool> exact;  // by value, after a run

private:
    void run_node(const Node& node) {
        std::vector<Tensor> moved;
        bool inputs_exact = true;
        moved.reserve(node.inputs.size());
        std::vector<const Tensor*> pointers;
        const bool exact_op = is_exact_op(node.op, graph_.value(node.inputs[0]).type);
        for (ValueId input : node.inputs) {
            moved.emplace_back();
            if (input != no_value) {
                inputs_exact = inputs_exact && exact[static_cast<size_t>(input)];
                moved.back() = values_[static_cast<size_t>(input)];
                // Sizes follow from the other inputs of Resize.
                const bool is_parameter = node.op == "Resize" && moved.size() > 1;
                if (!exact_op && !rounds_to_steps(node.op) && !is_parameter) {
                    const bool narrows = is_linear(node.op) || is_recurrent(node.op);
                    move(moved.back(), narrows ? operand_move_ : input_move, 0);
                }
            }
            pointers.push_back(input == no_value ? nullptr : &moved.back());
        }
        std::vector<Tensor> outputs = run_reference(node, pointers, ops_);
        const bool result_exact = exact_op && (inputs_exact || reads_no_elements(node.op));
        const Tolerance& tolerance = op_of(node, ops_).fields().tolerance;
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (node.outputs[i] == no_value) continue;
            if (!result_exact && (rounds_to_steps(node.op) || is_float(outputs[i].type())))
                move_output(node, outputs[i], tolerance, exact_op, terms(graph_, node, outputs));
            values_[static_cast<size_t>(node.outputs[i])] = outputs[i];
            exact[static_cast<size_t>(node.outputs[i])] = result_exact;
        }
    }

    void move_output(const Node& node, Tensor& output, const Tolerance& tolerance, bool exact_op, double count) {
        if (rounds_to_steps(node.op) && !is_float(output.type())) return step(output);
        const double narrow = resolution(output.type());
        if (exact_op) return move(output, narrow, 0);
        const double growth = std::sqrt(count), size = largest(output);
        move(output, std::max(narrow, input_move),
             std::max(tolerance.relative, input_move) * growth * std::max(size, 1e-2));
    }

    void move(Tensor& tensor, double relative, double absolute) {
        if (!is_float(tensor.type()) || (relative == 0 && absolute == 0)) return;
        Tensor copy(tensor.type(), tensor.shape());
        for (int64_t i = 0; i < tensor.elements(); ++i) {
            const double value = tensor.at(i);
            copy.set(i, std::isfinite(value) ? value * (1 + relative * sway()) + absolute * sway() : value);
        }
        tensor = copy;
    }

    void step(Tensor& tensor) {
        Tensor copy(tensor.type(), tensor.shape());
        for (int64_t i = 0; i < tensor.elements(); ++i)
            copy.set(i, tensor.at(i) + static_cast<double>(rng_.below(3)) - 1);
        tensor = copy;
    }

    double sway() { return 2 * rng_.unit() - 1; }

    const Graph& graph_;
    const Registry<Op>& ops_;
    double operand_move_;
    Rng rng_{0};
    std::vector<Tensor> values_;
};

// The median of those that moved: a few runs may leave an element in peace by chance.
double usual_move(std::vector<double> values) {
    std::erase_if(values, [](double value) { return value == 0 || !std::isfinite(value); });
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

bool jumps(std::string_view op) {
    static const std::set<std::string_view> names{
        "Floor",  "Ceil",   "Round",       "Sign", "Mod", "Equal", "Less",           "Greater", "TopK",
        "ArgMax", "ArgMin", "LessOrEqual", "Not",  "And", "Or",    "GreaterOrEqual", "OneHot"};
    return names.contains(op);
}

bool reads_no_elements(std::string_view op) { return op == "Shape" || op == "Size"; }

bool is_exact_op(std::string_view op, ElementType type) {
    static const std::set<std::string_view> names{"Relu",
                                                  "Neg",
                                                  "Abs",
                                                  "Max",
                                                  "Min",
                                                  "Clip",
                                                  "Where",
                                                  "Concat",
                                                  "Split",
                                                  "Slice",
                                                  "Pad",
                                                  "Transpose",
                                                  "Reshape",
                                                  "Flatten",
                                                  "Squeeze",
                                                  "Unsqueeze",
                                                  "Expand",
                                                  "Tile",
                                                  "Gather",
                                                  "GatherElements",
                                                  "DepthToSpace",
                                                  "SpaceToDepth",
                                                  "Identity",
                                                  "Dropout",
                                                  "MaxPool",
                                                  "GlobalMaxPool",
                                                  "ReduceMax",
                                                  "ReduceMin",
                                                  "Cast",
                                                  "Trilu",
                                                  "ScatterElements",
                                                  "Shape",
                                                  "ConstantOfShape",
                                                  "QuantizeLinear",
                                                  "MatMulInteger",
                                                  "ConvInteger"};
    static const std::set<std::string_view> of_integers{"Add",    "Sub",        "Mul",   "Div", "ReduceSum",
                                                        "CumSum", "ReduceProd", "Range", "Sum"};
    return names.contains(op) || jumps(op) || reads_no_elements(op) || (!is_float(type) && of_integers.contains(op));
}

std::vector<Allowed> allowed_errors(const Graph& bound, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& wanted, double operand_move, const Registry<Op>& ops) {
    Shaken shaken(bound, ops, operand_move);
    std::vector<Allowed> result;
    for (const Tensor& tensor : wanted) result.push_back({std::vector<double>(static_cast<size_t>(tensor.elements()))});
    for (int run = 0; run < runs; ++run) {
        const std::vector<Tensor> outputs = shaken.run(inputs, 1000 + static_cast<uint64_t>(run));
        for (size_t k = 0; k < wanted.size(); ++k)
            for (int64_t i = 0; i < wanted[k].elements(); ++i) {
                const double a = outputs[k].at(i), b = wanted[k].at(i);
                double& distance = result[k].distance[static_cast<size_t>(i)];
                if (a == b || (std::isnan(a) && std::isnan(b))) continue;
                const double moved = std::abs(a - b);
                distance = std::isfinite(moved) ? std::max(distance, moved) : HUGE_VAL;
            }
    }
    for (size_t k = 0; k < wanted.size(); ++k) {
        if (shaken.exact[static_cast<size_t>(bound.outputs[k])]) continue;
        const bool steps = !is_float(wanted[k].type());
        const double least = steps ? 1 : floor_move * largest(wanted[k]);
        const double usual = usual_move(result[k].distance);
        for (double& distance : result[k].distance) distance = least + factor * std::max(distance, usual);
    }
    return result;
}

}  // namespace headway::testing
