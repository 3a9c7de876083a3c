#include "staged/segment.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "compile/resolve.h"
#include "ops/execute.h"
#include "staged/closed_graph.h"
#include "staged/extract.h"

namespace headway {
namespace {

// Inputs take the kinds, types and shapes of the data; what is inside is found anew.
Graph bound(const Graph& graph, std::span<const Datum> inputs) {
    Graph result = graph;
    for (size_t i = 0; i < inputs.size(); ++i) {
        Value& value = result.value(result.inputs[i]);
        value.dims.reset();
        if (const auto* tensor = std::get_if<Tensor>(&inputs[i])) {
            value.kind = DeclaredKind::tensor;
            value.type = tensor->type();
            value.set_shape(tensor->shape());
        } else if (std::holds_alternative<Strings>(inputs[i])) {
            value.kind = DeclaredKind::tensor;
            value.type = ElementType::string;  // without a shape: nothing on strings is compiled
        } else {
            value.kind = std::holds_alternative<Sequence>(inputs[i]) ? DeclaredKind::sequence : DeclaredKind::optional;
        }
    }
    for (ValueId id = 0; id < result.value_count(); ++id)
        if (result.value(id).producer != no_node) result.value(id).dims.reset();
    return result;
}

// Inputs of a node and what its sub-graphs capture.
std::vector<ValueId> read_by(const Node& node, const std::unordered_map<std::string, ValueId>& names) {
    std::vector<ValueId> ids;
    std::ranges::copy_if(node.inputs, std::back_inserter(ids), [](ValueId id) { return id != no_value; });
    for (const std::string& name : captured_names(node))
        if (const auto found = names.find(name); found != names.end()) ids.push_back(found->second);
    return ids;
}

// When a value exists: with the graph's inputs, in the compiled piece, after it, or only in the rest.
enum class Made : uint8_t { later, given, compiled, referenced };

// The nodes of one stage by how they run, each in a legal order.
struct Division {
    std::vector<NodeId> compiled, referenced, rest;
    std::vector<Made> made;  // by value
};

class Divider {
public:
    Divider(const Graph& graph, const std::unordered_map<std::string, ValueId>& names, const Registry<Op>& ops)
        : graph_(graph), names_(names), ops_(ops) {
        division_.made.assign(static_cast<size_t>(graph.value_count()), Made::later);
        for (ValueId id : graph.inputs) made(id) = Made::given;
        for (ValueId id = 0; id < graph.value_count(); ++id)
            if (graph.is_constant(id)) made(id) = Made::given;
    }

    Division divide() {
        for (NodeId id : graph_.topological_order()) place(id);
        return std::move(division_);
    }

private:
    Made& made(ValueId id) { return division_.made[static_cast<size_t>(id)]; }

    // Such a node needs no shapes, so it may follow others of its kind at once.
    bool is_always_interpreted(const Node& node) const {
        return !op_of(node, ops_).fields().reference || std::ranges::any_of(node.inputs, [&](ValueId id) {
            return id != no_value &&
                   (graph_.value(id).kind != DeclaredKind::tensor || graph_.value(id).type == ElementType::string);
        });
    }

    void place(NodeId id) {
        const Node& node = graph_.node(id);
        const std::vector<ValueId> reads = read_by(node, names_);
        const auto any_made = [&](Made when) {
            return std::ranges::any_of(reads, [&](ValueId read) { return made(read) == when; });
        };
        const bool is_waiting = any_made(Made::later);
        const bool is_resolved = std::ranges::all_of(
            node.outputs, [&](ValueId output) { return output == no_value || is_known(graph_.value(output)); });
        Made when = Made::later;
        if (is_resolved && !is_waiting && !any_made(Made::referenced) && node.subgraphs.empty())
            when = Made::compiled;
        else if (!is_waiting && (!any_made(Made::referenced) || is_always_interpreted(node)))
            when = Made::referenced;
        for (ValueId output : node.outputs)
            if (output != no_value) made(output) = when;
        (when == Made::compiled     ? division_.compiled
         : when == Made::referenced ? division_.referenced
                                    : division_.rest)
            .push_back(id);
    }

    const Graph& graph_;
    const std::unordered_map<std::string, ValueId>& names_;
    const Registry<Op>& ops_;
    Division division_;
};

// Elements that the nodes write, and read of constants: what compiling them can save work on.
int64_t elements_moved(const Graph& graph, const std::vector<NodeId>& nodes) {
    int64_t sum = 0;
    for (NodeId id : nodes) {
        for (ValueId output : graph.node(id).outputs)
            if (output != no_value) sum += graph.value(output).shape().elements();
        for (ValueId input : graph.node(id).inputs)
            if (graph.is_constant(input)) sum += graph.constant(input)->elements();
    }
    return sum;
}

}  // namespace

Segment::Segment(const Graph& graph, std::span<const Datum> inputs, const std::shared_ptr<Workshop>& workshop)
    : workshop_(workshop), graph_(bound(graph, inputs)) {
    const Registry<Op>& ops = workshop->catalogue().ops;
    std::map<NodeId, std::string> why;
    for (Unresolved& unresolved : resolve(graph_, ops)) why.emplace(unresolved.node, std::move(unresolved.why));
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
        names_.emplace(graph_.value(id).name, id);
        constants_.push_back(graph_.is_constant(id) ? Datum(*graph_.constant(id)) : Datum());
    }
    const Division division = Divider(graph_, names_, ops).divide();
    const auto made = [&](ValueId id) { return division.made[static_cast<size_t>(id)]; };

    std::vector<ValueId> rest_outputs;
    for (ValueId output : graph_.outputs) {
        known_outputs_.push_back(made(output) != Made::later);
        if (made(output) == Made::later) rest_outputs.push_back(output);
    }
    if (!division.rest.empty()) {
        Extract rest = extract(graph_, division.rest, rest_outputs, names_);
        rest_inputs_ = std::move(rest.inputs);
        rest_ = std::make_shared<StagedGraph>(std::move(rest.graph), workshop);
    }

    // What leaves the piece.
    std::set<ValueId> wanted(graph_.outputs.begin(), graph_.outputs.end());
    wanted.insert(rest_inputs_.begin(), rest_inputs_.end());
    for (NodeId id : division.referenced) {
        const std::vector<ValueId> reads = read_by(graph_.node(id), names_);
        wanted.insert(reads.begin(), reads.end());
    }
    std::erase_if(wanted, [&](ValueId id) { return made(id) != Made::compiled; });
    compile(division.compiled, {wanted.begin(), wanted.end()});
    for (NodeId id : division.referenced) {
        const auto reason = why.find(id);
        add_reference_step(id, reason == why.end() ? "a value that it reads is known only then" : reason->second);
    }
}

void Segment::compile(const std::vector<NodeId>& nodes, const std::vector<ValueId>& outputs) {
    if (nodes.empty()) return;
    std::string why;
    if (elements_moved(graph_, nodes) >= workshop_->settings().compile_from) {
        Extract part = extract(graph_, nodes, outputs, names_);
        try {
            piece_ = std::make_unique<Piece>(workshop_->engine(std::move(part.graph)));
            piece_inputs_ = std::move(part.inputs);
            piece_outputs_ = outputs;
            return;
        } catch (const Unsupported& error) {
            why = error.what();
        }
    } else {
        why = "its part of the graph is too small to be compiled";
    }
    for (NodeId id : nodes) add_reference_step(id, why);
}

void Segment::add_reference_step(NodeId id, const std::string& why) {
    const Node& node = graph_.node(id);
    ReferenceStep step{id, {}};
    for (const Subgraph& subgraph : node.subgraphs) {
        ClosedGraph body = naming(node, [&] { return closed(*subgraph.graph, graph_, names_); });
        step.bodies.push_back({subgraph.graph.get(), std::make_shared<StagedGraph>(std::move(body.graph), workshop_),
                               std::move(body.captured)});
    }
    workshop_->note_reference(node, why);
    steps_.push_back(std::move(step));
}

const Datum& Segment::get(const Values& values, ValueId id) const {
    const std::optional<Datum>& value = values[static_cast<size_t>(id)];
    HEADWAY_CHECK(value || graph_.is_constant(id));
    return value ? *value : constants_[static_cast<size_t>(id)];
}

void Segment::run_piece(Values& values) const {
    std::vector<Tensor> inputs;
    for (ValueId id : piece_inputs_) inputs.push_back(std::get<Tensor>(get(values, id)));
    std::vector<Tensor> outputs = piece_->run(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) values[static_cast<size_t>(piece_outputs_[i])] = std::move(outputs[i]);
}

void Segment::run_step(const ReferenceStep& step, Values& values, int depth) const {
    const Node& node = graph_.node(step.node);
    std::vector<const Datum*> inputs;
    for (ValueId id : node.inputs) inputs.push_back(id == no_value ? nullptr : &get(values, id));
    const auto run_body = [&](const Graph& graph, std::span<const Datum> given) {
        const auto body = std::ranges::find(step.bodies, &graph, &Body::original);
        HEADWAY_CHECK(body != step.bodies.end());
        std::vector<Datum> all(given.begin(), given.end());
        for (ValueId id : body->captured) all.push_back(get(values, id));
        return body->graph->run(all, depth + 1);
    };
    std::vector<Datum> outputs =
        naming(node, [&] { return run_on_data(node, inputs, workshop_->catalogue().ops, run_body); });
    for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != no_value) values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
}

Segment::Result Segment::run(std::vector<Datum> inputs, int depth) const {
    Values values(static_cast<size_t>(graph_.value_count()));
    for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(graph_.inputs[i])] = std::move(inputs[i]);
    if (piece_ != nullptr) run_piece(values);
    for (const ReferenceStep& step : steps_) run_step(step, values, depth);
    Result result;
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
        result.outputs.push_back(known_outputs_[i] ? std::optional(get(values, graph_.outputs[i])) : std::nullopt);
    for (ValueId id : rest_inputs_) result.rest_inputs.push_back(get(values, id));
    return result;
}

}  // namespace headway
