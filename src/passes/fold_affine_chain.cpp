// Two multiplications or additions by constants in a row become one; an addition moves behind a multiplication when
// that lets the multiplication reach weights or another multiplication.
#include <algorithm>
#include <cmath>

#include "passes/linear.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fold_affine_chain",
    .help = "Merges chains of multiplications and additions by constants.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "affine_chain",
}};

// x * scale + shift with constants that broadcast to the result; an absent part is 1 or 0.
struct Affine {
    ValueId x = no_value;
    std::optional<Tensor> scale, shift;
    int parts() const { return static_cast<int>(scale.has_value()) + static_cast<int>(shift.has_value()); }
};

template <class F>
Tensor mapped(const Tensor& a, F function) {
    Tensor result(ElementType::f32, a.shape());
    for (int64_t i = 0; i < a.elements(); ++i) result.set(i, function(a.at(i)));
    return result;
}

// a op b, broadcast.
template <class F>
Tensor combined(const Tensor& a, const Tensor& b, F function) {
    const Shape shape = broadcast(a.shape(), b.shape());
    const auto index_in = [&](const Shape& operand, int64_t at) {
        int64_t index = 0, stride = 1;
        for (size_t i = shape.rank(), o = operand.rank(); i-- > 0;) {
            const int64_t position = at % shape[i];
            at /= shape[i];
            if (o == 0) continue;
            --o;
            if (operand[o] != 1) index += position * stride;
            stride *= operand[o];
        }
        return index;
    };
    Tensor result(ElementType::f32, shape);
    for (int64_t i = 0; i < result.elements(); ++i)
        result.set(i, function(a.at(index_in(a.shape(), i)), b.at(index_in(b.shape(), i))));
    return result;
}

std::optional<Affine> affine_at(const Graph& graph, NodeId id) {
    if (id == no_node) return std::nullopt;
    const Node& node = graph.node(id);
    const auto operand = constant_operand(graph, node);
    if (!node.domain.empty() || !operand || graph.value(operand->variable).type != ElementType::f32)
        return std::nullopt;
    const Tensor& constant = *known(graph, operand->constant);
    if (node.op == "Mul") return Affine{operand->variable, constant, std::nullopt};
    if (node.op == "Add") return Affine{operand->variable, std::nullopt, constant};
    if (node.op == "Sub" && operand->constant_first)
        return Affine{operand->variable, Tensor::scalar<float>(-1), constant};
    if (node.op == "Sub") return Affine{operand->variable, std::nullopt, mapped(constant, [](double x) { return -x; })};
    return std::nullopt;
}

// second(first(x)).
Affine composed(const Affine& first, const Affine& second) {
    const auto times = [](double a, double b) { return a * b; };
    Affine result{first.x, first.scale, first.shift};
    if (second.scale) {
        result.scale = first.scale ? combined(*first.scale, *second.scale, times) : *second.scale;
        if (first.shift) result.shift = combined(*first.shift, *second.scale, times);
    }
    if (second.shift)
        result.shift = result.shift ? combined(*result.shift, *second.shift, [](double a, double b) { return a + b; })
                                    : *second.shift;
    return result;
}

bool is_finite(const std::optional<Tensor>& tensor) {
    if (!tensor) return true;
    return std::ranges::all_of(tensor->data<float>(), [](float x) { return std::isfinite(x); });
}

int64_t elements(const Affine& affine) {
    return (affine.scale ? affine.scale->elements() : 0) + (affine.shift ? affine.shift->elements() : 0);
}

// Whether a multiplication of this value can go further up.
bool takes_scale(const Graph& graph, const Uses& uses, ValueId value) {
    Verdict why;
    const NodeId producer = graph.value(value).producer;
    if (producer == no_node || !uses.is_sole(value)) return false;
    const auto above = affine_at(graph, producer);
    return (above && above->scale && !above->shift) || linear_at(graph, producer, why).has_value();
}

bool merge(PassContext& context, const Uses& uses, NodeId id) {
    Graph& graph = context.graph;
    const std::optional<Affine> second = affine_at(graph, id);
    if (!second) return false;
    const NodeId before = graph.value(second->x).producer;
    const std::optional<Affine> first = affine_at(graph, before);
    if (!first) return false;
    const std::string site = site_of(graph, id);
    if (!uses.is_sole(second->x)) {
        context.refused(site, "merge", Verdict::no(Reason::consumers, "read elsewhere"));
        return false;
    }
    const Affine both = composed(*first, *second);
    const bool swaps = both.parts() == 2 && !first->scale && !second->shift && takes_scale(graph, uses, first->x);
    if (both.parts() > 1 && !swaps) return false;
    if (!is_finite(both.scale) || !is_finite(both.shift)) {
        context.refused(site, "merge", Verdict::no(Reason::accuracy, "a merged constant would not be finite"));
        return false;
    }
    if (elements(both) > 2 * std::max(elements(*first), elements(*second))) {
        context.refused(site, "merge", Verdict::no(Reason::limit, "the merged constant would be larger"));
        return false;
    }
    const std::vector<std::string> origins = merged_origins(graph, {id, before});
    const ValueId result = graph.node(id).outputs[0];
    ValueId x = both.x;
    if (both.scale) {
        const ValueId scale = graph.add_constant(site + ".scale", *both.scale);
        if (both.shift)
            x = append(context, "Mul", {x, scale}, {}, origins);
        else
            append_as(context, result, "Mul", {x, scale}, {}, origins);
    }
    if (both.shift)
        append_as(context, result, "Add", {x, graph.add_constant(site + ".shift", *both.shift)}, {}, origins);
    context.taken(site, "merge");
    return true;
}

bool run(PassContext& context) {
    Uses uses(context.graph);
    return rewrite_each(context.graph, [&](NodeId id) {
        if (!merge(context, uses, id)) return false;
        uses = Uses(context.graph);
        return true;
    });
}

const Pass fold_affine_chain{{
    .name = "fold_affine_chain",
    .help = "Merges chains of multiplications and additions by constants.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
