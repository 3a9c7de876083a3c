// Pointwise nodes that no producer took become Groups of their own: one pass over memory instead of several.
#include <algorithm>

#include "passes/group.h"
#include "passes/pass.h"
#include "passes/pointwise_body.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "fuse_pointwise",
    .help = "Fuses pointwise operators with each other.",
    .family = "fusion",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "pointwise_chain",
}};

const Knob<int64_t> max_group{{
    .name = "fuse_pointwise.max_group",
    .help = "Most pointwise operators fused into one step.",
    .family = "fusion",
    .values = {16, 1, 4, 64},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "pointwise_chain",
}};

const Knob<int64_t> max_operands{{
    .name = "fuse_pointwise.max_operands",
    .help = "Most tensors read by one fused step.",
    .family = "fusion",
    .values = {8, 1, 2, 4},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "pointwise_many_operands",
}};

const Knob<std::string_view> outputs{{
    .name = "fuse_pointwise.outputs",
    .help = "Whether a fused step may write intermediate results that are read elsewhere too.",
    .family = "fusion",
    .values = {"several", "single"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "pointwise_shared",
}};

const Knob<std::string_view> recompute{{
    .name = "fuse_pointwise.recompute",
    .help = "Whether cheap arithmetic read by several steps is computed in each of them instead of being stored.",
    .family = "fusion",
    .values = {"off", "cheap"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "pointwise_shared",
    .witness_route = "fuse_pointwise.outputs=single",
}};

// A Group that grows from its last node towards its inputs.
class Cluster {
public:
    Cluster(PassContext& context, Surroundings& around, NodeId last)
        : context_(context),
          graph_(context.graph),
          last_(last),
          shape_(graph_.value(graph_.node(last).outputs[0]).shape()),
          nodes_{last},
          around_(around) {}

    void grow() {
        while (true) {
            const NodeId next = next_producer();
            if (next == no_node) return;
            const Verdict verdict = take(next);
            if (!verdict) {
                refused_.push_back(next);
                context_.refused(site_of(graph_, last_), "fuse " + site_of(graph_, next), verdict);
            }
        }
    }

    size_t size() const { return nodes_.size(); }
    void make() const { make_group(graph_, ordered(nodes_), results(nodes_), last_); }

private:
    template <class T>
    T setting(const Knob<T>& knob) const {
        return context_.route.get(knob, graph_.node(last_).origins);
    }
    static bool contains(const std::vector<NodeId>& nodes, NodeId id) {
        return std::ranges::find(nodes, id) != nodes.end();
    }
    ValueId result_of(NodeId id) const { return graph_.node(id).outputs[0]; }
    int position(NodeId id) const {
        return static_cast<size_t>(id) < around_.positions.size() ? around_.positions[static_cast<size_t>(id)] : -1;
    }

    // The latest pointwise node of the same shape that makes an input of the cluster.
    NodeId next_producer() const {
        NodeId best = no_node;
        for (NodeId id : nodes_) {
            for (ValueId input : graph_.node(id).inputs) {
                const NodeId producer = input == no_value ? no_node : graph_.value(input).producer;
                if (producer == no_node || contains(nodes_, producer) || contains(refused_, producer)) continue;
                if (!is_pointwise(graph_, graph_.node(producer)) || graph_.value(input).shape() != shape_) continue;
                if (best == no_node || position(producer) > position(best)) best = producer;
            }
        }
        return best;
    }

    bool is_read_outside(const std::vector<NodeId>& nodes, ValueId value) const {
        return graph_.is_output(value) || std::ranges::any_of(around_.uses.readers(value),
                                                              [&](NodeId reader) { return !contains(nodes, reader); });
    }

    std::vector<ValueId> results(const std::vector<NodeId>& nodes) const {
        std::vector<ValueId> values{result_of(last_)};
        for (NodeId id : ordered(nodes))
            if (id != last_ && is_read_outside(nodes, result_of(id))) values.push_back(result_of(id));
        return values;
    }

    std::vector<NodeId> ordered(std::vector<NodeId> nodes) const {
        std::ranges::sort(nodes, {}, [&](NodeId id) { return position(id); });
        return nodes;
    }

    // Whether something outside lies between the node and the cluster: one step could not hold both.
    bool encloses_others(NodeId id) const {
        std::vector<NodeId> seen, open;
        const auto visit = [&](NodeId from) {
            for (ValueId value : graph_.node(from).outputs) {
                if (value == no_value) continue;
                for (NodeId reader : around_.uses.readers(value))
                    if (!contains(seen, reader) && position(reader) <= position(last_)) {
                        seen.push_back(reader);
                        open.push_back(reader);
                    }
            }
        };
        for (NodeId reader : around_.uses.readers(result_of(id)))
            if (!contains(nodes_, reader) && !contains(open, reader)) open.push_back(reader);
        while (!open.empty()) {
            const NodeId at = open.back();
            open.pop_back();
            if (contains(nodes_, at)) return true;
            visit(at);
        }
        return false;
    }

    Verdict fits(const std::vector<NodeId>& nodes) const {
        if (static_cast<int64_t>(nodes.size()) > setting(max_group))
            return Verdict::no(Reason::knob, "fuse_pointwise.max_group");
        std::vector<ValueId> inputs;
        Verdict why;
        const auto body = program_of(body_of(graph_, ordered(nodes), results(nodes), inputs), &why);
        if (!body) return why;
        if (body->program.operands > setting(max_operands))
            return Verdict::no(Reason::knob, "fuse_pointwise.max_operands");
        return Verdict::yes();
    }

    Verdict take(NodeId id) {
        std::vector<NodeId> grown = nodes_;
        grown.push_back(id);
        if (!is_read_outside(nodes_, result_of(id)) || (setting(outputs) == "several" && !encloses_others(id))) {
            const Verdict verdict = fits(grown);
            if (verdict) nodes_ = std::move(grown);
            return verdict;
        }
        if (setting(recompute) == "off" || pointwise_class(graph_.node(id)) != PointwiseClass::arithmetic)
            return Verdict::no(Reason::consumers, "read elsewhere");
        if (const Verdict verdict = fits(grown); !verdict) return verdict;
        take_copy(id);
        return Verdict::yes();
    }

    void take_copy(NodeId id) {
        Node copy = graph_.node(id);
        const ValueId original = copy.outputs[0];
        const ValueId value = graph_.add_fresh_value(graph_.value(original).name, ElementType::f32);
        graph_.value(value).set_shape(shape_);
        copy.outputs = {value};
        for (NodeId reader : nodes_) std::ranges::replace(graph_.node(reader).inputs, original, value);
        nodes_.push_back(graph_.add_node(std::move(copy)));
        around_ = Surroundings(graph_);
    }

    PassContext& context_;
    Graph& graph_;
    NodeId last_;
    Shape shape_;
    std::vector<NodeId> nodes_, refused_;
    Surroundings& around_;
};

bool run(PassContext& context) {
    Graph& graph = context.graph;
    std::vector<NodeId> order = graph.topological_order();
    Surroundings around(graph);
    std::ranges::reverse(order);
    return rewrite_each(graph, order, [&](NodeId id) {
        if (!is_pointwise(graph, graph.node(id))) return false;
        const std::string site = site_of(graph, id);
        if (context.route.get(enabled, graph.node(id).origins) == "off") {
            context.refused(site, "fuse", Verdict::no(Reason::knob, "fuse_pointwise=off"));
            return false;
        }
        Cluster cluster(context, around, id);
        cluster.grow();
        if (cluster.size() < 2) return false;
        cluster.make();
        around = Surroundings(graph);
        context.taken(site, "group of " + std::to_string(cluster.size()));
        return true;
    });
}

const Pass fuse_pointwise{{
    .name = "fuse_pointwise",
    .help = "Fuses pointwise operators with each other.",
    .phase = Phase::group,
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
