// softmax(q * k^T * scale + mask) * v, whatever way it is spelled, becomes one operator that reads heads where they
// lie: the scores never leave the cache, and the transposes around them are gone.
#include <algorithm>
#include <array>

#include "passes/attention_form.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fuse_attention",
    .help =
        "Computes an attention (two products and a softmax between them, with scale and mask) as one step that reads "
        "queries, keys and values where they lie.",
    .family = "fusion",
    .values = {"on", "off"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "attention",
}};

struct Pattern {
    NodeId root = no_node;      // the product with the values
    std::vector<NodeId> nodes;  // the root first
    ValueId q = no_value, k_turned = no_value, v = no_value;
    Shape scores;
    double scale = 1;
    ValueId mask = no_value;
    AttentionForm::Mask mask_kind = AttentionForm::Mask::none;
    float hidden = 0;
    bool nan_to_zero = false;
};

class Matcher {
public:
    Matcher(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses) {}

    std::optional<Pattern> at(NodeId root) {
        Pattern found;
        found.root = root;
        found.nodes = {root};
        found.v = graph_.node(root).inputs[1];
        const ValueId weights = without_nan_guard(graph_.node(root).inputs[0], found);
        const NodeId softmax = made_by(graph_, weights, "Softmax");
        if (softmax == no_node) return std::nullopt;
        const Node& node = graph_.node(softmax);
        const size_t rank = graph_.value(weights).shape().rank();
        const int64_t axis = node.attributes.integer("axis", node.version < 13 ? 1 : -1);
        if (graph_.value(weights).type != ElementType::f32 || rank < 2 ||
            normalized_axis(axis, rank) + 1 != static_cast<int64_t>(rank))
            return std::nullopt;
        if (!found.nan_to_zero && !uses_.is_sole(weights)) return std::nullopt;
        found.nodes.push_back(softmax);
        found.scores = graph_.value(weights).shape();
        if (!find_product(node.inputs[0], found)) return std::nullopt;
        return found;
    }

private:
    // Where(IsNaN(p), 0, p): rows that see no key become zeros.
    ValueId without_nan_guard(ValueId value, Pattern& found) const {
        const NodeId where = made_by(graph_, value, "Where");
        if (where == no_node || !uses_.is_sole(value)) return value;
        const Node& node = graph_.node(where);
        const NodeId test = made_by(graph_, node.inputs[0], "IsNaN");
        const ValueId inner = node.inputs[2];
        if (test == no_node || graph_.node(test).inputs[0] != inner ||
            scalar_constant(graph_, node.inputs[1]) != 0.0F || graph_.is_output(inner) ||
            uses_.readers(inner).size() != 2 || !uses_.is_sole(node.inputs[0]))
            return value;
        found.nan_to_zero = true;
        found.nodes.push_back(where);
        found.nodes.push_back(test);
        return inner;
    }

    // Goes up from the softmax to the product of queries and keys.
    bool find_product(ValueId value, Pattern& found) const {
        const NodeId producer = graph_.value(value).producer;
        if (producer == no_node || !uses_.is_sole(value) || graph_.value(value).shape() != found.scores) return false;
        const Node& node = graph_.node(producer);
        found.nodes.push_back(producer);
        if (is_op(node, "MatMul")) {
            found.q = node.inputs[0];
            found.k_turned = node.inputs[1];
            return true;
        }
        if (is_op(node, "Mul") || is_op(node, "Div")) return find_below_scale(node, found);
        // A mask that is multiplied afterwards is another mask.
        if (found.mask != no_value || found.scale != 1) return false;
        if (is_op(node, "Add")) return find_below_addition(node, found);
        return is_op(node, "Where") && find_below_choice(node, found);
    }

    bool find_below_scale(const Node& node, Pattern& found) const {
        const auto operand = constant_operand(graph_, node);
        const auto number = operand ? uniform_constant(graph_, operand->constant) : std::nullopt;
        if (!number || (is_op(node, "Div") && (operand->constant_first || *number == 0))) return false;
        found.scale *= is_op(node, "Mul") ? double{*number} : 1 / double{*number};
        return find_product(operand->variable, found);
    }

    bool find_below_addition(const Node& node, Pattern& found) const {
        for (size_t i : {0, 1}) {
            Pattern tried = found;
            tried.mask = node.inputs[1 - i];
            tried.mask_kind = AttentionForm::Mask::add;
            if (graph_.value(tried.mask).type != ElementType::f32 || !find_product(node.inputs[i], tried)) continue;
            found = std::move(tried);
            return true;
        }
        return false;
    }

    bool find_below_choice(const Node& node, Pattern& found) const {
        for (size_t i : {1, 2}) {
            const auto number = scalar_constant(graph_, node.inputs[3 - i]);
            if (!number) continue;
            found.mask = node.inputs[0];
            found.mask_kind = i == 1 ? AttentionForm::Mask::keep : AttentionForm::Mask::hide;
            found.hidden = *number;
            return find_product(node.inputs[i], found);
        }
        return false;
    }

    const Graph& graph_;
    const Uses& uses_;
};

// The value itself, and those after it that only lay it out anew, each as a view of the first.
std::vector<StridedView> layouts_after(const Graph& graph, const Uses& uses, ValueId value,
                                       std::vector<ValueId>& values) {
    constexpr std::array<std::string_view, 6> names{"Flatten", "Identity",  "Reshape",
                                                    "Squeeze", "Transpose", "Unsqueeze"};
    std::vector<StridedView> views{StridedView::whole(graph, value)};
    values = {value};
    for (;;) {
        const NodeId reader = uses.sole_reader(values.back());
        if (reader == no_node) return views;
        const Node& node = graph.node(reader);
        if (!node.domain.empty() || std::ranges::find(names, node.op) == names.end() || node.inputs[0] != values.back())
            return views;
        auto next = viewed_through(graph, node, node.outputs[0], views.back());
        if (!next) return views;
        views.push_back(std::move(*next));
        values.push_back(node.outputs[0]);
    }
}

// The view that a value of this shape has of a tensor which `view` shows: the inverse of a view that leaves nothing
// out.
std::optional<StridedView> inverted(const StridedView& view, const Shape& shape) {
    struct Axis {
        int64_t extent, from, to;
    };
    std::vector<Axis> axes;
    for (const StridedAxes& group : view.axes)
        for (const StridedAxis& axis : group) axes.push_back({axis.extent, axis.step, 0});
    int64_t step = 1;
    for (size_t i = axes.size(); i-- > 0;) {
        axes[i].to = step;
        step *= axes[i].extent;
    }
    std::ranges::sort(axes, std::greater{}, &Axis::from);
    StridedAxes ordered;
    for (const Axis& axis : axes) ordered.push_back({axis.extent, axis.to});
    auto groups = regrouped_axes(ordered, std::vector<int64_t>(shape.begin(), shape.end()));
    if (!groups) return std::nullopt;
    StridedView result;
    result.axes = std::move(*groups);
    return result;
}

void turn(StridedView& view) {
    if (view.axes.size() >= 2) std::swap(view.axes[view.axes.size() - 1], view.axes[view.axes.size() - 2]);
}

// Tries the operands as far back, and the result as far on, as they can be followed.
Verdict fuse(PassContext& context, const Uses& uses, const Pattern& found) {
    Graph& graph = context.graph;
    const ValueId product = graph.node(found.root).outputs[0];
    const Shape shape = graph.value(product).shape();
    std::vector<ValueId> results;
    const std::vector<StridedView> layouts = layouts_after(graph, uses, product, results);
    Verdict verdict;
    for (size_t i = results.size(); i-- > 0;) {
        const auto y = inverted(layouts[i], shape);
        if (!y) continue;
        for (const bool traces : {true, false}) {
            const auto view = [&](ValueId value, bool scales) {
                return traces ? traced_view(graph, value, scales) : StridedView::whole(graph, value);
            };
            AttentionParts parts;
            parts.q = view(found.q, true);
            parts.k = view(found.k_turned, true);
            turn(parts.k);
            parts.v = view(found.v, false);
            if (found.mask != no_value) parts.mask = view(found.mask, false);
            parts.mask_kind = found.mask_kind;
            parts.hidden = found.hidden;
            parts.scale = found.scale;
            parts.nan_to_zero = found.nan_to_zero;
            parts.y = *y;
            parts.result = results[i];
            std::vector<NodeId> nodes = found.nodes;
            for (size_t k = 1; k <= i; ++k) nodes.push_back(graph.value(results[k]).producer);
            verdict = append_attention(context, parts, merged_origins(graph, nodes));
            if (verdict) return verdict;
        }
    }
    return verdict;
}

Verdict suits(const Graph& graph, const Pattern& found) {
    const Shape product = graph.value(graph.node(found.root).outputs[0]).shape();
    for (ValueId value : {found.q, found.k_turned, found.v})
        if (graph.value(value).shape().rank() < 2) return Verdict::no(Reason::shape, "an operand is no matrix");
    if (product.rank() != found.scores.rank() || !std::equal(product.begin(), product.end() - 2, found.scores.begin()))
        return Verdict::no(Reason::shape, "the values have batch axes of their own");
    if (product.elements() == 0 || found.scores.elements() == 0 || graph.value(found.q).shape().elements() == 0)
        return Verdict::no(Reason::shape, "nothing to compute");
    // Weights are packed once, at build time, for products of their own.
    if (known(graph, found.k_turned) != nullptr || known(graph, found.v) != nullptr)
        return Verdict::no(Reason::pattern, "keys or values are constants");
    return Verdict::yes();
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_op(graph.node(id), "MatMul")) return false;
        const Uses uses(graph);
        const auto found = Matcher(graph, uses).at(id);
        if (!found) return false;
        const std::string site = site_of(graph, id);
        Verdict verdict = suits(graph, *found);
        if (context.route.get(enabled, graph.node(id).origins) == "off")
            verdict = Verdict::no(Reason::knob, "fuse_attention=off");
        if (verdict) verdict = fuse(context, uses, *found);
        return context.decided(site, "attention", verdict);
    });
}

const Pass fuse_attention{{
    .name = "fuse_attention",
    .help = "Makes one operator of the products and the softmax of an attention.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
