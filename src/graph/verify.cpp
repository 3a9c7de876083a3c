#include "graph/verify.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "graph/limits.h"

namespace headway {
namespace {

class Verifier {
public:
    Verifier(const Graph& graph, Stage stage, const Verifier* outer, int depth)
        : graph_(graph), stage_(stage), outer_(outer), depth_(depth) {}

    void verify() {
        if (depth_ > max_graph_depth) fail("graphs are nested too deeply");
        check_names();
        for (ValueId id : graph_.inputs) check_input(id);
        count_producers();
        for (NodeId id = 0; id < graph_.node_count(); ++id)
            if (!graph_.node(id).dead) check_node(graph_.node(id));
        for (ValueId id : graph_.outputs) check_read(id, [] { return std::string("a graph output"); });
        check_values();
        check_order();
    }

private:
    [[noreturn]] static void fail(const std::string& message) { throw InternalError("graph verifier: " + message); }

    static std::string name_of(const Node& node) {
        return node.op + " node \"" + escaped(node.origins.empty() ? "without origin" : node.origins[0]) + "\"";
    }
    std::string name_of(ValueId id) const { return "value \"" + escaped(graph_.value(id).name) + "\""; }

    template <class Name>
    void check_range(ValueId id, Name&& where) const {
        if (id < 0 || id >= graph_.value_count())
            fail(where() + " has value id " + std::to_string(id) + " out of range");
    }

    void check_names() {
        for (ValueId id = 0; id < graph_.value_count(); ++id) {
            const std::string& name = graph_.value(id).name;
            if (name.empty()) fail("value " + std::to_string(id) + " has no name");
            if (!names_.emplace(name, id).second) fail("two values are named \"" + escaped(name) + "\"");
        }
    }

    void check_input(ValueId id) {
        check_range(id, [] { return std::string("the graph's inputs"); });
        if (is_input_.empty()) is_input_.resize(static_cast<size_t>(graph_.value_count()));
        if (is_input_[static_cast<size_t>(id)]) fail(name_of(id) + " is a graph input twice");
        is_input_[static_cast<size_t>(id)] = true;
        if (graph_.value(id).producer != no_node) fail("graph input " + name_of(id) + " has a producer");
    }

    void count_producers() {
        is_input_.resize(static_cast<size_t>(graph_.value_count()));
        std::vector<NodeId> producers(static_cast<size_t>(graph_.value_count()), no_node);
        for (NodeId id = 0; id < graph_.node_count(); ++id) {
            if (graph_.node(id).dead) continue;
            for (ValueId output : graph_.node(id).outputs) {
                if (output == no_value) continue;
                check_range(output, [&] { return "an output of " + name_of(graph_.node(id)); });
                NodeId& producer = producers[static_cast<size_t>(output)];
                if (producer != no_node) fail(name_of(output) + " is produced twice");
                producer = id;
            }
        }
        for (ValueId id = 0; id < graph_.value_count(); ++id) {
            if (graph_.value(id).producer != producers[static_cast<size_t>(id)])
                fail(name_of(id) + " names the wrong producer");
            if (graph_.is_constant(id) && producers[static_cast<size_t>(id)] != no_node)
                fail("constant " + name_of(id) + " has a producer");
        }
    }

    bool defines(std::string_view name) const {
        const auto found = names_.find(name);
        return found != names_.end() && is_defined_here(found->second);
    }
    bool is_defined_here(ValueId id) const {
        return graph_.value(id).producer != no_node || graph_.is_constant(id) || is_input_[static_cast<size_t>(id)];
    }

    // `reader` names what reads the value: called where something is wrong.
    template <class Name>
    void check_read(ValueId id, Name&& reader) const {
        check_range(id, reader);
        if (is_defined_here(id)) return;
        for (const Verifier* outer = outer_; outer != nullptr; outer = outer->outer_)
            if (outer->defines(graph_.value(id).name)) return;
        fail(name_of(id) + " is read by " + reader() + " but nothing produces it");
    }

    void check_node(const Node& node) {
        if (node.op.empty()) fail("a node without an operator");
        if (node.origins.empty()) fail(name_of(node) + " has no origin");
        for (ValueId input : node.inputs)
            if (input != no_value) check_read(input, [&] { return name_of(node); });
        if ((node.op == "Group") != (node.body != nullptr))
            fail(name_of(node) + ": a Group, and only a Group, has a body");
        if (node.body) check_group(node);
        if (stage_ != Stage::imported && !node.subgraphs.empty())
            fail(name_of(node) + " has a sub-graph after binding");
        for (const Subgraph& sub : node.subgraphs) {
            if (!sub.graph) fail(name_of(node) + ": sub-graph " + sub.attribute + " is null");
            Verifier(*sub.graph, stage_, this, depth_ + 1).verify();
        }
    }

    void check_group(const Node& node) const {
        if (stage_ == Stage::bound) fail(name_of(node) + ": a Group before grouping");
        const Graph& body = *node.body;
        if (body.inputs.size() != node.inputs.size() || body.outputs.size() != node.outputs.size())
            fail(name_of(node) + ": the body has other numbers of inputs or outputs");
        Verifier(body, stage_, nullptr, depth_ + 1).verify();
        for (size_t i = 0; i < node.inputs.size(); ++i) check_same(node, node.inputs[i], body.inputs[i]);
        for (size_t i = 0; i < node.outputs.size(); ++i) check_same(node, node.outputs[i], body.outputs[i]);
    }

    void check_same(const Node& node, ValueId outside, ValueId inside) const {
        if (outside == no_value) return;
        const Value& a = graph_.value(outside);
        const Value& b = node.body->value(inside);
        if (a.type != b.type || a.dims != b.dims)
            fail(name_of(node) + ": " + name_of(outside) + " differs in type or shape from \"" + escaped(b.name) +
                 "\" in the body");
    }

    void check_values() const {
        std::vector<bool> live(static_cast<size_t>(graph_.value_count()));
        const auto mark = [&](ValueId id) {
            if (id != no_value) live[static_cast<size_t>(id)] = true;
        };
        std::ranges::for_each(graph_.inputs, mark);
        std::ranges::for_each(graph_.outputs, mark);
        for (NodeId id = 0; id < graph_.node_count(); ++id) {
            std::ranges::for_each(graph_.node(id).inputs, mark);
            std::ranges::for_each(graph_.node(id).outputs, mark);
        }
        for (ValueId id = 0; id < graph_.value_count(); ++id) {
            const Value& value = graph_.value(id);
            if (value.constant && (value.type != value.constant->type() || !value.has_static_shape() ||
                                   value.shape() != value.constant->shape()))
                fail("constant " + name_of(id) + " has another type or shape than its tensor");
            if (stage_ == Stage::imported || !live[static_cast<size_t>(id)]) continue;
            if (value.type == ElementType::undefined) fail(name_of(id) + " has no type");
            if (!value.has_static_shape()) fail(name_of(id) + " has no static shape");
        }
    }

    // Kahn's algorithm, as in Graph::topological_order, but it names a node that is left over.
    void check_order() const {
        const auto count = static_cast<size_t>(graph_.node_count());
        std::vector<int32_t> waiting(count, 0);
        std::vector<std::vector<NodeId>> readers(count);
        std::vector<NodeId> ready;
        for (NodeId id = 0; id < graph_.node_count(); ++id) {
            for (ValueId input : graph_.node(id).inputs) {
                const NodeId producer = input == no_value ? no_node : graph_.value(input).producer;
                if (producer == no_node) continue;
                ++waiting[static_cast<size_t>(id)];
                readers[static_cast<size_t>(producer)].push_back(id);
            }
            if (waiting[static_cast<size_t>(id)] == 0) ready.push_back(id);
        }
        while (!ready.empty()) {
            const NodeId id = ready.back();
            ready.pop_back();
            for (NodeId reader : readers[static_cast<size_t>(id)])
                if (--waiting[static_cast<size_t>(reader)] == 0) ready.push_back(reader);
        }
        for (NodeId id = 0; id < graph_.node_count(); ++id)
            if (waiting[static_cast<size_t>(id)] > 0) fail(name_of(graph_.node(id)) + " stands on or behind a cycle");
    }

    const Graph& graph_;
    Stage stage_;
    const Verifier* outer_;
    int depth_;
    std::unordered_map<std::string_view, ValueId> names_;
    std::vector<bool> is_input_;
};

}  // namespace

void verify_graph(const Graph& graph, Stage stage) { Verifier(graph, stage, nullptr, 0).verify(); }

}  // namespace headway
