// A producer (the anchor) and the pointwise nodes after it become one Group: they are computed on its results while
// these are in cache. The nodes taken always leave exactly one value to the rest of the graph, so nothing heavy is
// computed twice and no cycle can arise.
#include <algorithm>
#include <array>

#include "passes/group.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/pointwise_body.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fuse_epilogue",
    .help = "Fuses pointwise operators into the convolution, product, pooling, reduction or norm before them.",
    .family = "fusion",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "conv_epilogue",
}};

const Knob<int64_t> depth{{
    .name = "fuse_epilogue.depth",
    .help = "Most pointwise operators fused behind one producer.",
    .family = "fusion",
    .values = {8, 0, 1, 2, 4, 16},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "conv_epilogue",
}};

const Knob<std::string_view> activations{{
    .name = "fuse_epilogue.activations",
    .help = "Which activation functions are fused behind a producer.",
    .family = "fusion",
    .values = {"all", "relu", "relu_clip", "none"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "conv_hard_swish",
}};

const Knob<std::string_view> residual{{
    .name = "fuse_epilogue.residual",
    .help =
        "Whether an operation with another full tensor (a residual connection) is fused, before or after activations.",
    .family = "fusion",
    .values = {"both", "pre_activation", "post_activation", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "residual_block",
}};

const Knob<std::string_view> scale{{
    .name = "fuse_epilogue.scale",
    .help = "Whether an operation with a broadcast run-time tensor (squeeze-and-excite) is fused.",
    .family = "fusion",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "conv_gate",
}};

const Knob<std::string_view> anchors{{
    .name = "fuse_epilogue.anchors",
    .help = "Which producers take pointwise operators: all kinds, or only convolutions or matrix products.",
    .family = "fusion",
    .values = {"all", "conv", "matmul", "linear"},
    .numerics = Numerics::reorders,
    .witness = "pool_affine",
}};

const Knob<std::string_view> meeting{{
    .name = "fuse_epilogue.meeting",
    .help =
        "Which of two producers that meet in an operation takes it: the later or the earlier one in the order of the "
        "file. The later one finds the other's result already there, in the cache where branches are short; the "
        "earlier one suits exporters that write the short branch last.",
    .family = "fusion",
    .values = {"later", "earlier"},
    .numerics = Numerics::reorders,
    .witness = "two_convs_meet",
}};

enum class Family { none, conv, matmul, other };

Family family_of(const Node& node) {
    constexpr std::array<std::string_view, 15> others{"AveragePool",
                                                      "GlobalAveragePool",
                                                      "GlobalMaxPool",
                                                      "MaxPool",
                                                      "ReduceL2",
                                                      "ReduceMax",
                                                      "ReduceMean",
                                                      "ReduceMin",
                                                      "ReduceSum",
                                                      "LayerNormalization",
                                                      "Resize",
                                                      "InstanceNormalization",
                                                      "BatchNormalization",
                                                      "Softmax",
                                                      "ReduceSumSquare"};
    if (!node.domain.empty()) return Family::none;
    if (node.op == "Conv" || node.op == "ConvTranspose") return Family::conv;
    if (node.op == "MatMul" || node.op == "Gemm") return Family::matmul;
    return std::ranges::find(others, node.op) != others.end() ? Family::other : Family::none;
}

bool is_anchor(const PassContext& context, const Uses& uses, const Node& node) {
    const Family family = family_of(node);
    const std::string_view wanted = context.route.get(anchors);
    if (family == Family::none || (wanted == "conv" && family != Family::conv) ||
        (wanted == "matmul" && family != Family::matmul) || (wanted == "linear" && family == Family::other))
        return false;
    if (node.outputs[0] == no_value || context.graph.value(node.outputs[0]).type != ElementType::f32) return false;
    return std::all_of(node.outputs.begin() + 1, node.outputs.end(),
                       [&](ValueId output) { return output == no_value || !uses.is_read(output); });
}

// Grows a Group behind one anchor. `nodes` may at times leave several values to the rest of the graph; `closed` nodes
// of it and `result` are the last state in which they left one.
class Growth {
public:
    Growth(const PassContext& context, const Surroundings& around, NodeId anchor)
        : context_(context),
          graph_(context.graph),
          around_(around),
          nodes_{anchor},
          result_(graph_.node(anchor).outputs[0]),
          shape_(graph_.value(result_).shape()) {}

    // The verdict says what ended the growth.
    Verdict grow() {
        while (true) {
            const NodeId next = next_reader();
            if (next == no_node) return Verdict::no(Reason::pattern, "no more readers");
            if (const Verdict verdict = may_take(next); !verdict) return verdict;
            nodes_.push_back(next);
            if (const ValueId only = only_escape(); only != no_value) {
                if (const Verdict verdict = fits(only); !verdict) return verdict;
                closed_ = nodes_.size();
                result_ = only;
            }
        }
    }

    size_t taken() const { return closed_ - 1; }
    std::vector<NodeId> nodes() const { return {nodes_.begin(), nodes_.begin() + static_cast<int64_t>(closed_)}; }
    ValueId result() const { return result_; }

private:
    template <class T>
    T setting(const Knob<T>& knob) const {
        return context_.route.get(knob, graph_.node(nodes_[0]).origins);
    }
    bool has(NodeId id) const { return std::ranges::find(nodes_, id) != nodes_.end(); }
    bool makes(ValueId value) const {
        return graph_.value(value).producer != no_node && has(graph_.value(value).producer);
    }

    // The first reader, in topological order, of a value made so far.
    NodeId next_reader() const {
        NodeId first = no_node;
        for (NodeId id : nodes_)
            for (NodeId reader : around_.uses.readers(graph_.node(id).outputs[0]))
                if (!has(reader) && (first == no_node || position(reader) < position(first))) first = reader;
        return first;
    }
    int position(NodeId id) const { return around_.positions[static_cast<size_t>(id)]; }

    // The one value that the rest of the graph reads; no_value when there are several.
    ValueId only_escape() const {
        ValueId only = no_value;
        for (NodeId id : nodes_) {
            const ValueId value = graph_.node(id).outputs[0];
            const bool escapes =
                graph_.is_output(value) ||
                std::ranges::any_of(around_.uses.readers(value), [&](NodeId reader) { return !has(reader); });
            if (escapes && only != no_value) return no_value;
            if (escapes) only = value;
        }
        return only;
    }

    Verdict may_take(NodeId id) const {
        const Node& node = graph_.node(id);
        if (const Verdict verdict = is_pointwise(graph_, node); !verdict) return verdict;
        if (graph_.value(node.outputs[0]).shape() != shape_) return Verdict::no(Reason::shape, "another shape");
        if (static_cast<int64_t>(nodes_.size()) > setting(depth)) return knob_says(depth);
        const PointwiseClass kind = pointwise_class(node);
        const std::string_view wanted = setting(activations);
        if ((kind == PointwiseClass::activation && wanted != "all") ||
            (kind == PointwiseClass::clip && wanted != "all" && wanted != "relu_clip") ||
            (kind == PointwiseClass::relu && wanted == "none"))
            return knob_says(activations);
        return may_read(node);
    }

    Verdict may_read(const Node& node) const {
        for (ValueId input : node.inputs) {
            if (input == no_value || makes(input) || graph_.is_constant(input)) continue;
            if (graph_.value(input).shape() != shape_) {
                if (setting(scale) == "off") return knob_says(scale);
                continue;
            }
            const bool activated = std::any_of(nodes_.begin() + 1, nodes_.end(), [&](NodeId id) {
                return pointwise_class(graph_.node(id)) != PointwiseClass::arithmetic;
            });
            const std::string_view wanted = setting(residual);
            if (wanted == "off" || wanted == (activated ? "pre_activation" : "post_activation"))
                return knob_says(residual);
        }
        return Verdict::yes();
    }

    template <class T>
    Verdict knob_says(const Knob<T>& knob) const {
        const auto index = static_cast<size_t>(context_.route.index(knob, graph_.node(nodes_[0]).origins));
        return Verdict::no(Reason::knob, std::string(knob.name()) + "=" + knob.values()[index]);
    }

    Verdict fits(ValueId result) const {
        std::vector<ValueId> inputs;
        Verdict why;
        program_of(body_of(graph_, in_order(nodes_), {result}, inputs), &why);
        return why;
    }

public:
    std::vector<NodeId> in_order(std::vector<NodeId> nodes) const {
        std::ranges::sort(nodes, {}, [&](NodeId id) { return position(id); });
        return nodes;
    }

private:
    const PassContext& context_;
    const Graph& graph_;
    const Surroundings& around_;
    std::vector<NodeId> nodes_;
    size_t closed_ = 1;
    ValueId result_;
    Shape shape_;
};

bool run(PassContext& context) {
    Graph& graph = context.graph;
    std::vector<NodeId> order = graph.topological_order();
    Surroundings around(graph);
    // From the last: of two producers that meet in an addition, the later one takes it, when the other is complete.
    if (context.route.get(meeting) == "later") std::ranges::reverse(order);
    return rewrite_each(graph, order, [&](NodeId id) {
        if (!is_anchor(context, around.uses, graph.node(id))) return false;
        const std::string site = site_of(graph, id);
        if (context.route.get(enabled, graph.node(id).origins) == "off") {
            context.refused(site, "epilogue", Verdict::no(Reason::knob, "fuse_epilogue=off"));
            return false;
        }
        Growth growth(context, around, id);
        const Verdict end = growth.grow();
        if (end.reason != Reason::pattern && end.reason != Reason::operator_not_handled)
            context.refused(site, "epilogue", end);
        if (growth.taken() == 0) return false;
        make_group(graph, growth.in_order(growth.nodes()), {growth.result()}, id);
        context.taken(site, "epilogue of " + std::to_string(growth.taken()));
        around = Surroundings(graph);
        return true;
    });
}

const Pass fuse_epilogue{{
    .name = "fuse_epilogue",
    .help = "Fuses pointwise operators into their producers.",
    .phase = Phase::group,
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
