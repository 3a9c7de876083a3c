#include "compile/resolve.h"

#include <algorithm>

#include "base/error.h"
#include "compile/inline_branch.h"
#include "compile/modernize.h"
#include "ops/execute.h"
#include "ops/work.h"

namespace headway {
namespace {

// Results up to this many elements are computed: shapes and conditions depend on integers, resizing on a few scales.
// Anything larger is left to the pass fold_constants, which has knobs.
constexpr int64_t most_integers = 1024, most_reals = 64;
// Nested Ifs unfold one inside the other; a file may not make this loop for ever.
constexpr int max_inlined_branches = 10000;

bool all_known(const Graph& graph, const std::vector<ValueId>& ids) {
    return std::ranges::all_of(ids, [&](ValueId id) { return id == no_value || is_known(graph.value(id)); });
}

// Computes a node whose inputs are all known and whose results are small.
bool fold_if_small(Graph& graph, NodeId id, const Registry<Op>& ops) {
    const Node& node = graph.node(id);
    std::vector<const Tensor*> inputs;
    const bool shape_only = node.op == "Shape" || node.op == "Size";
    Tensor placeholder;
    for (ValueId input : node.inputs) {
        const Tensor* known = input == no_value ? nullptr : graph.constant(input);
        if (input != no_value && known == nullptr) {
            if (!shape_only) return false;
            // Shape and Size read no elements, only the extents.
            const Shape shape = graph.value(input).shape();
            const int64_t bytes = shape.elements() * static_cast<int64_t>(size_of(graph.value(input).type));
            placeholder =
                Tensor(graph.value(input).type, shape,
                       std::span<const std::byte>(static_cast<const std::byte*>(nullptr), static_cast<size_t>(bytes)),
                       nullptr);
            known = &placeholder;
        }
        inputs.push_back(known);
    }
    for (ValueId output : node.outputs) {
        if (output == no_value) continue;
        const Value& value = graph.value(output);
        if (value.shape().elements() > (is_float(value.type) ? most_reals : most_integers)) return false;
    }
    if (!op_of(node, ops).fields().reference || building_work(graph, node) > most_building_work) return false;
    std::vector<Tensor> results = naming(node, [&] { return run_reference(node, inputs, ops); });
    const std::vector<ValueId> outputs = node.outputs;
    graph.erase_node(id);
    for (size_t k = 0; k < outputs.size(); ++k)
        if (outputs[k] != no_value) graph.value(outputs[k]).constant = std::move(results[k]);
    return true;
}

class Resolver {
public:
    Resolver(Graph& graph, const Registry<Op>& ops) : graph_(graph), ops_(ops) {}

    std::vector<Unresolved> run() {
        take(graph_.topological_order());
        while (!pending_.empty()) {
            const NodeId id = pending_.back();
            pending_.pop_back();
            if (!is_done(id)) visit(id);
        }
        return std::move(unresolved_);
    }

private:
    bool is_done(NodeId id) const { return static_cast<size_t>(id) < done_.size() && done_[static_cast<size_t>(id)]; }

    void take(const std::vector<NodeId>& order) { pending_.insert(pending_.end(), order.rbegin(), order.rend()); }

    void visit(NodeId id) {
        done_.resize(static_cast<size_t>(graph_.node_count()), false);
        done_[static_cast<size_t>(id)] = true;
        const Node& node = graph_.node(id);
        try {
            if (node.op == "If" && node.domain.empty()) {
                if (all_known(graph_, node.inputs)) inline_branch(id);
                return;
            }
            // What stands behind an unresolved node waits for it.
            if (!all_known(graph_, node.inputs)) return;
            modernize_node(graph_, id);
            infer_node(graph_, id, ops_);
            if (!all_known(graph_, graph_.node(id).outputs))
                throw Unsupported("the shape of a result of '" + graph_.node(id).origins.front() +
                                  "' is not known when the model is built");
            fold_if_small(graph_, id, ops_);
        } catch (const Unsupported& error) {
            unresolved_.push_back({id, error.what()});
        }
    }

    void inline_branch(NodeId id) {
        const NodeId first = graph_.node_count();
        inline_taken_branch(graph_, id);
        if (++inlined_ > max_inlined_branches) throw UserError("the model unfolds into too many If branches");
        // The branch's nodes are next, unless one reads a value that is made further on.
        std::vector<NodeId> fresh;
        for (NodeId at = first; at < graph_.node_count(); ++at) fresh.push_back(at);
        const auto is_ready = [&](NodeId at) {
            return std::ranges::all_of(graph_.node(at).inputs, [&](ValueId input) {
                const NodeId producer = input == no_value ? no_node : graph_.value(input).producer;
                return producer == no_node || producer >= first || is_done(producer);
            });
        };
        if (std::ranges::all_of(fresh, is_ready)) return take(fresh);
        pending_.clear();
        take(graph_.topological_order());
    }

    Graph& graph_;
    const Registry<Op>& ops_;
    std::vector<NodeId> pending_;  // the next one last
    std::vector<bool> done_;
    std::vector<Unresolved> unresolved_;
    int inlined_ = 0;
};

}  // namespace

bool is_known(const Value& value) {
    return value.kind == DeclaredKind::tensor && value.type != ElementType::undefined &&
           value.type != ElementType::string && value.has_static_shape();
}

std::vector<Unresolved> resolve(Graph& graph, const Registry<Op>& ops) { return Resolver(graph, ops).run(); }

}  // namespace headway
