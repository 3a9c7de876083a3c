#include "passes/strided_view.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "passes/match.h"

namespace headway {
namespace {

StridedAxes flattened(const std::vector<StridedAxes>& axes) {
    StridedAxes flat;
    for (const StridedAxes& axis : axes) flat.insert(flat.end(), axis.begin(), axis.end());
    return flat;
}

std::optional<StridedView> transposed(const Node& node, StridedView view) {
    std::vector<int64_t> perm = node.attributes.integers("perm");
    if (perm.empty())
        for (size_t axis = view.axes.size(); axis-- > 0;) perm.push_back(static_cast<int64_t>(axis));
    std::vector<StridedAxes> axes;
    for (int64_t axis : perm) axes.push_back(view.axes[static_cast<size_t>(axis)]);
    view.axes = std::move(axes);
    return view;
}

std::optional<StridedView> reshaped(const Shape& shape, StridedView view) {
    auto axes = regrouped_axes(flattened(view.axes), std::vector<int64_t>(shape.begin(), shape.end()));
    if (!axes) return std::nullopt;
    view.axes = std::move(*axes);
    return view;
}

// The elements from `first` on, `step` apart, of an axis that runs evenly.
bool cut(StridedView& view, size_t axis, int64_t first, int64_t step, int64_t count) {
    const StridedAxes joined = joined_axes(view.axes[axis]);
    if (joined.size() > 1 || step < 1) return false;
    if (joined.empty()) return true;
    view.offset += first * joined[0].step;
    view.axes[axis].clear();
    if (count > 1) view.axes[axis].push_back({count, joined[0].step * step});
    return true;
}

std::optional<StridedView> sliced(const Graph& graph, const Node& node, StridedView view) {
    const auto range = slice_range(graph, node);
    if (!range) return std::nullopt;
    const Shape shape = graph.value(node.outputs[0]).shape(), whole = graph.value(node.inputs[0]).shape();
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] == whole[axis] && range->steps[axis] == 1) continue;
        if (!cut(view, axis, range->starts[axis], range->steps[axis], shape[axis])) return std::nullopt;
    }
    return view;
}

std::optional<StridedView> split(const Graph& graph, const Node& node, ValueId output, StridedView view) {
    const auto axis = static_cast<size_t>(normalized_axis(node.attributes.integer("axis", 0), view.axes.size()));
    int64_t first = 0;
    for (ValueId each : node.outputs) {
        if (each == no_value) return std::nullopt;  // how much it takes is not known
        const int64_t count = graph.value(each).shape()[axis];
        if (each == output) return cut(view, axis, first, 1, count) ? std::optional(view) : std::nullopt;
        first += count;
    }
    return std::nullopt;
}

// Of one index: the axis goes away, or stays with an extent of 1.
std::optional<StridedView> gathered(const Graph& graph, const Node& node, StridedView view) {
    const auto index = known_integers(graph, node.inputs[1]);
    if (!index || index->size() != 1 || graph.value(node.inputs[1]).shape().rank() > 1) return std::nullopt;
    const Shape whole = graph.value(node.inputs[0]).shape();
    const auto axis = static_cast<size_t>(normalized_axis(node.attributes.integer("axis", 0), whole.rank()));
    const int64_t at = (*index)[0] < 0 ? (*index)[0] + whole[axis] : (*index)[0];
    if (at < 0 || at >= whole[axis] || !cut(view, axis, at, 1, 1)) return std::nullopt;
    if (graph.value(node.inputs[1]).shape().rank() == 0)
        view.axes.erase(view.axes.begin() + static_cast<int64_t>(axis));
    return view;
}

std::optional<StridedView> expanded(const Graph& graph, const Node& node, StridedView view) {
    const Shape from = graph.value(node.inputs[0]).shape(), to = graph.value(node.outputs[0]).shape();
    view.axes.insert(view.axes.begin(), to.rank() - from.rank(), StridedAxes{});
    for (size_t axis = 0; axis < to.rank(); ++axis) {
        const size_t lead = to.rank() - from.rank();
        if (to[axis] != 1 && (axis < lead || from[axis - lead] == 1)) view.axes[axis] = {{to[axis], 0}};
    }
    return view;
}

// The factor of a multiplication or division of input `which` by a number.
std::optional<double> factor_of(const Graph& graph, const Node& node, size_t which) {
    if (!is_op(node, "Mul") && !is_op(node, "Div")) return std::nullopt;
    const auto operand = constant_operand(graph, node);
    if (!operand || operand->variable != node.inputs[which] || (is_op(node, "Div") && operand->constant_first))
        return std::nullopt;
    const auto number = uniform_constant(graph, operand->constant);
    if (!number || *number == 0) return std::nullopt;
    return is_op(node, "Mul") ? double{*number} : 1 / double{*number};
}

bool is_view_operator(const Node& node) {
    constexpr std::array<std::string_view, 10> names{"Expand", "Flatten", "Gather",  "Identity",  "Reshape",
                                                     "Slice",  "Split",   "Squeeze", "Transpose", "Unsqueeze"};
    return node.domain.empty() && std::ranges::find(names, node.op) != names.end();
}

}  // namespace

StridedView StridedView::whole(const Graph& graph, ValueId value) {
    StridedView view;
    view.source = value;
    const Shape shape = graph.value(value).shape();
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        view.axes.emplace_back();
        if (shape[axis] != 1) view.axes.back().push_back({shape[axis], shape.elements(axis + 1, shape.rank())});
    }
    return view;
}

StridedAxes joined_axes(const StridedAxes& axes) {
    StridedAxes joined;
    for (const StridedAxis& axis : axes) {
        if (axis.extent == 1) continue;
        if (!joined.empty() && joined.back().step == axis.extent * axis.step)
            joined.back() = {joined.back().extent * axis.extent, axis.step};
        else
            joined.push_back(axis);
    }
    return joined;
}

std::optional<std::vector<StridedAxes>> regrouped_axes(const StridedAxes& axes, const std::vector<int64_t>& extents) {
    const StridedAxes joined = joined_axes(axes);
    std::vector<StridedAxes> groups;
    size_t next = 0;
    StridedAxis rest{1, 0};  // what is left of the axis before `next`
    for (int64_t extent : extents) {
        groups.emplace_back();
        while (extent != 1) {
            if (rest.extent == 1) {
                if (next == joined.size()) return std::nullopt;
                rest = joined[next++];
            }
            if (extent == 0 || rest.extent == 0) return std::nullopt;
            if (extent % rest.extent == 0) {
                groups.back().push_back(rest);
                extent /= rest.extent;
                rest.extent = 1;
            } else if (rest.extent % extent == 0) {
                rest.extent /= extent;
                groups.back().push_back({extent, rest.step * rest.extent});
                extent = 1;
            } else {
                return std::nullopt;
            }
        }
    }
    if (rest.extent != 1 || next != joined.size()) return std::nullopt;
    return groups;
}

std::optional<StridedView> viewed_through(const Graph& graph, const Node& node, ValueId output, StridedView view) {
    if (!is_view_operator(node)) return std::nullopt;
    if (node.op == "Identity") return view;
    if (node.op == "Transpose") return transposed(node, std::move(view));
    if (node.op == "Slice") return sliced(graph, node, std::move(view));
    if (node.op == "Split") return split(graph, node, output, std::move(view));
    if (node.op == "Gather") return gathered(graph, node, std::move(view));
    if (node.op == "Expand") return expanded(graph, node, std::move(view));
    return reshaped(graph.value(output).shape(), std::move(view));
}

StridedView traced_view(const Graph& graph, ValueId value, bool scales) {
    std::vector<ValueId> way{value};  // back to where the view may begin
    for (;;) {
        const NodeId producer = graph.value(way.back()).producer;
        if (producer == no_node) break;
        const Node& node = graph.node(producer);
        size_t input = 0;
        if (scales && !is_view_operator(node))
            while (input < 2 && !factor_of(graph, node, input)) ++input;
        if (input == 2 || (!is_view_operator(node) && !scales)) break;
        way.push_back(node.inputs[input]);
    }
    StridedView view = StridedView::whole(graph, way.back());
    double scale = 1;
    for (size_t i = way.size() - 1; i-- > 0;) {
        const Node& node = graph.node(graph.value(way[i]).producer);
        if (!is_view_operator(node)) {
            scale *= *factor_of(graph, node, node.inputs[0] == way[i + 1] ? 0 : 1);
            continue;
        }
        if (auto next = viewed_through(graph, node, way[i], view)) {
            view = std::move(*next);
        } else {
            view = StridedView::whole(graph, way[i]);
            scale = 1;
        }
    }
    view.scale = scale;
    return view;
}

}  // namespace headway
