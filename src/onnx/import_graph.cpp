#include "onnx/import_graph.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "graph/limits.h"
#include "onnx/proto.h"

namespace headway {
namespace {

std::string shown(std::string_view name) { return "\"" + escaped(name) + "\""; }

// Runs `work` and puts `where: ` before its errors.
template <class F>
auto placed(const std::string& where, F&& work) {
    try {
        return work();
    } catch (const Unsupported& error) {
        throw Unsupported(where + ": " + error.what());
    } catch (const UserError& error) {
        throw UserError(where + ": " + error.what());
    }
}

struct NumbersOnly {
    std::optional<Tensor> operator()(Tensor tensor) const { return tensor; }
    std::optional<Tensor> operator()(const Strings&) const { return std::nullopt; }
};

class GraphReader {
public:
    GraphReader(ImportState& state, GraphReader* outer, std::string prefix)
        : state_(state), outer_(outer), prefix_(std::move(prefix)), depth_(outer == nullptr ? 0 : outer->depth_ + 1) {}

    Graph read(std::string_view message) {
        if (depth_ > max_graph_depth) throw UserError("sub-graphs are nested too deeply");
        file_ = proto::read_graph(message, state_.budget);
        read_initializers();
        for (const proto::ValueInfo& info : file_.inputs) add_input(info);
        for (const proto::ValueInfo& info : file_.inner)
            if (info.type != ElementType::undefined) inner_types_.emplace(info.name, info.type);
        name_origins();
        for (size_t i = 0; i < file_.nodes.size(); ++i) define_outputs(i);
        for (size_t i = 0; i < file_.nodes.size(); ++i)
            if (!is_constant_[i]) read_node(i);
        add_outputs();
        add_in_order();
        return std::move(graph_);
    }

private:
    static constexpr size_t no_index = static_cast<size_t>(-1);

    // A node that waits for its place in the order, and all that it reads, captures of its sub-graphs included.
    struct Pending {
        Node node;
        std::vector<ValueId> reads;
    };

    std::string place(size_t index) const {
        return "node " + shown(origins_[index]) + " (" + escaped(file_.nodes[index].op) + ")";
    }

    void read_initializers() {
        for (const std::string_view message : file_.initializers) {
            const std::string name = tensor_proto_name(message);
            if (name.empty()) throw UserError("an initialiser without a name");
            if (!initializers_.emplace(name, message).second)
                throw UserError("two initialisers are named " + shown(name));
        }
    }

    ValueId define(std::string_view name, const char* what) {
        if (name.empty()) throw UserError(std::string(what) + " without a name");
        std::string key(name);
        if (!names_.emplace(key, graph_.value_count()).second)
            throw UserError("value " + shown(name) + " is defined twice");
        return graph_.add_value(std::move(key));
    }

    void add_input(const proto::ValueInfo& info) {
        const std::string name(info.name);
        if (initializers_.contains(name)) {
            const bool may_be_fed = outer_ == nullptr && state_.ir_version >= 4;
            if (may_be_fed) state_.defaulted_inputs.push_back(name);
            if (!may_be_fed || !state_.fed_inputs.contains(name)) return;
            initializers_.erase(name);
        }
        const ValueId id = define(info.name, "a graph input");
        graph_.value(id).kind = info.kind;
        graph_.value(id).type = info.type;
        graph_.value(id).dims = info.dims;
        if (outer_ == nullptr && size_of(info.type) == 0 && info.type != ElementType::string)
            throw Unsupported("input " + shown(name) + " has element type " + std::string(to_string(info.type)) +
                              ", which is not handled");
        graph_.inputs.push_back(id);
    }

    std::string claim(std::string origin) {
        while (!state_.origins.insert(origin).second) origin += '~';
        return origin;
    }

    // Unique names first, so that a generated `Op#k` never takes one of them.
    void name_origins() {
        std::unordered_map<std::string_view, int> uses, counts;
        for (const proto::Node& node : file_.nodes) ++uses[node.name];
        origins_.resize(file_.nodes.size());
        for (size_t i = 0; i < file_.nodes.size(); ++i) {
            const std::string_view name = file_.nodes[i].name;
            if (!name.empty() && uses[name] == 1) origins_[i] = claim(prefix_ + std::string(name));
        }
        for (size_t i = 0; i < file_.nodes.size(); ++i) {
            const std::string_view op = file_.nodes[i].op;
            const int index = counts[op]++;
            if (origins_[i].empty()) origins_[i] = claim(prefix_ + std::string(op) + "#" + std::to_string(index));
        }
    }

    void define_outputs(size_t index) {
        const proto::Node& node = file_.nodes[index];
        const bool is_constant = node.op == "Constant" && (node.domain.empty() || node.domain == "ai.onnx");
        is_constant_.push_back(false);
        outputs_.emplace_back();
        placed(place(index), [&] {
            if (node.op.empty()) throw UserError("a node without an operator");
            for (const std::string_view name : node.outputs) {
                if (name.empty()) {
                    outputs_.back().push_back(no_value);
                    continue;
                }
                if (initializers_.contains(std::string(name)))
                    throw UserError("value " + shown(name) + " is defined twice");
                const ValueId id = define(name, "an output");
                producers_.resize(static_cast<size_t>(id) + 1, no_index);
                producers_[static_cast<size_t>(id)] = index;
                if (const auto type = inner_types_.find(name); type != inner_types_.end())
                    graph_.value(id).type = type->second;
                outputs_.back().push_back(id);
            }
            if (is_constant) is_constant_.back() = define_constant(node, outputs_.back());
        });
    }

    void set_constant(ValueId id, Tensor tensor) {
        Value& value = graph_.value(id);
        value.type = tensor.type();
        value.set_shape(tensor.shape());
        value.constant = std::move(tensor);
    }

    // False when it holds strings: then it stays a node.
    bool define_constant(const proto::Node& node, const std::vector<ValueId>& outputs) {
        if (outputs.size() != 1 || outputs[0] == no_value || node.attributes.size() != 1)
            throw UserError("a Constant has one output and one attribute");
        std::optional<Tensor> tensor = constant_of(node.attributes[0]);
        if (!tensor) return false;
        producers_[static_cast<size_t>(outputs[0])] = no_index;
        set_constant(outputs[0], std::move(*tensor));
        return true;
    }

    // Nothing when the attribute holds strings.
    std::optional<Tensor> constant_of(const proto::Attribute& attribute) const {
        using proto::AttributeType;
        if (attribute.name == "value" && attribute.type == AttributeType::tensor)
            return std::visit(NumbersOnly{},
                              read_tensor_values_proto(attribute.tensor, state_.owner, &state_.external).values);
        if (attribute.name == "value_string" && attribute.type == AttributeType::text) return std::nullopt;
        if (attribute.name == "value_strings" && attribute.type == AttributeType::texts) return std::nullopt;
        if (attribute.name == "value_float" && attribute.type == AttributeType::real)
            return Tensor::scalar(attribute.real);
        if (attribute.name == "value_int" && attribute.type == AttributeType::integer)
            return Tensor::scalar(attribute.integer);
        if (attribute.name == "value_floats" && attribute.type == AttributeType::reals)
            return Tensor::of<float>(Shape{static_cast<int64_t>(attribute.reals.size())}, attribute.reals);
        if (attribute.name == "value_ints" && attribute.type == AttributeType::integers)
            return Tensor::of<int64_t>(Shape{static_cast<int64_t>(attribute.integers.size())}, attribute.integers);
        throw Unsupported("attribute " + shown(attribute.name) + " is not handled");
    }

    // Constants hold numbers, so an initialiser of strings becomes a Constant node.
    void define_initializer(ValueId id, std::string_view message) {
        TensorValues values = read_tensor_values_proto(message, state_.owner, &state_.external).values;
        if (auto* tensor = std::get_if<Tensor>(&values)) return set_constant(id, std::move(*tensor));
        Strings& strings = std::get<Strings>(values);
        graph_.value(id).type = ElementType::string;
        graph_.value(id).set_shape(strings.shape);
        Node node;
        node.op = "Constant";
        const auto opset = state_.opsets.find("");
        node.version = opset == state_.opsets.end() ? 1 : opset->second;
        node.origins = {claim(prefix_ + graph_.value(id).name)};
        node.outputs = {id};
        node.attributes.set("value", std::move(strings));
        graph_.add_node(std::move(node));
    }

    // The value that `name` means here, or no_value. An initialiser becomes a constant when it is first read; a name of
    // an outer graph becomes a value without producer here and in the graphs between.
    ValueId resolve(const std::string& name) {
        if (const auto found = names_.find(name); found != names_.end()) return found->second;
        if (const auto found = initializers_.find(name); found != initializers_.end()) {
            const ValueId id = define(name, "an initialiser");
            placed("initialiser " + shown(name), [&] { define_initializer(id, found->second); });
            return id;
        }
        const ValueId outside = outer_ == nullptr ? no_value : outer_->capture(name);
        if (outside == no_value) return no_value;
        const ValueId id = define(name, "a captured value");
        graph_.value(id).kind = outer_->graph_.value(outside).kind;
        graph_.value(id).type = outer_->graph_.value(outside).type;
        graph_.value(id).dims = outer_->graph_.value(outside).dims;
        return id;
    }

    ValueId capture(const std::string& name) {
        const ValueId id = resolve(name);
        if (id != no_value) captured_.push_back(id);
        return id;
    }

    ValueId required(std::string_view name, const char* reader) {
        const ValueId id = resolve(std::string(name));
        if (id == no_value) throw UserError(std::string(reader) + " " + shown(name) + ", which nothing produces");
        return id;
    }

    void read_node(size_t index) {
        const proto::Node& from = file_.nodes[index];
        Pending pending;
        Node& node = pending.node;
        node.op = from.op;
        node.domain = from.domain == "ai.onnx" ? "" : from.domain;
        node.origins = {origins_[index]};
        node.outputs = std::move(outputs_[index]);
        placed(place(index), [&] {
            const auto opset = state_.opsets.find(node.domain);
            if (opset == state_.opsets.end())
                throw UserError("the model imports no operator set of domain " + shown(node.domain));
            node.version = opset->second;
            for (const std::string_view name : from.inputs)
                node.inputs.push_back(name.empty() ? no_value : required(name, "it reads"));
            captured_ = node.inputs;
            for (const proto::Attribute& attribute : from.attributes) add_attribute(attribute, node);
            pending.reads = std::move(captured_);
        });
        note_unsupported(node);
        pending_.emplace(index, std::move(pending));
    }

    void note_unsupported(const Node& node) {
        try {
            op_of(node, state_.ops);
        } catch (const Unsupported& error) {
            if (state_.first_unsupported.empty()) state_.first_unsupported = error.what();
            state_.unsupported.insert(node.domain.empty() ? node.op : node.domain + "/" + node.op);
        }
    }

    void add_attribute(const proto::Attribute& from, Node& node) {
        using proto::AttributeType;
        std::string name(from.name);
        const bool is_known =
            node.attributes.has(name) ||
            std::ranges::any_of(node.subgraphs, [&](const Subgraph& sub) { return sub.attribute == name; });
        if (is_known) throw UserError("attribute " + shown(name) + " is given twice");
        const auto set = [&](AttributeValue value) { node.attributes.set(std::move(name), std::move(value)); };
        switch (from.type) {
            case AttributeType::real:
                return set(from.real);
            case AttributeType::integer:
                return set(from.integer);
            case AttributeType::text:
                return set(std::string(from.text));
            case AttributeType::reals:
                return set(from.reals);
            case AttributeType::integers:
                return set(from.integers);
            case AttributeType::texts:
                return set(std::vector<std::string>(from.texts.begin(), from.texts.end()));
            case AttributeType::tensor:
                return placed("attribute " + shown(from.name), [&] {
                    std::visit(set, read_tensor_values_proto(from.tensor, state_.owner, &state_.external).values);
                });
            case AttributeType::graph: {
                GraphReader inner(state_, this, node.origins[0] + "/" + name + "/");
                Graph graph = inner.read(from.graph);
                node.subgraphs.push_back({std::move(name), std::make_shared<Graph>(std::move(graph))});
                return;
            }
            case AttributeType::type:
                return;  // that of an Optional without an element, which is not told from other absent ones
            case AttributeType::undefined:
                break;
        }
        throw UserError("attribute " + shown(name) + " has no value");
    }

    void add_outputs() {
        std::unordered_set<ValueId> seen;
        for (const proto::ValueInfo& info : file_.outputs) {
            const ValueId id = required(info.name, "the graph's outputs name");
            if (!seen.insert(id).second && outer_ == nullptr)
                throw UserError("output " + shown(info.name) + " is declared twice");
            graph_.outputs.push_back(id);
            const auto index = static_cast<size_t>(id);
            if (index >= producers_.size() || producers_[index] == no_index) continue;  // it has its type already
            Value& value = graph_.value(id);
            value.kind = info.kind;
            if (info.type != ElementType::undefined) value.type = info.type;
            if (outer_ == nullptr) value.dims = info.dims;
        }
    }

    // Kahn's algorithm with the smallest index first: file order stays wherever it is legal.
    void add_in_order() {
        producers_.resize(static_cast<size_t>(graph_.value_count()), no_index);
        std::vector<int64_t> waiting(file_.nodes.size(), 0);
        std::vector<std::vector<size_t>> readers(file_.nodes.size());
        std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
        for (const auto& [index, pending] : pending_) {
            for (const ValueId id : pending.reads) {
                const size_t producer = id == no_value ? no_index : producers_[static_cast<size_t>(id)];
                if (producer == no_index) continue;
                ++waiting[index];
                readers[producer].push_back(index);
            }
            if (waiting[index] == 0) ready.push(index);
        }
        size_t added = 0;
        for (; !ready.empty(); ++added) {
            const size_t index = ready.top();
            ready.pop();
            graph_.add_node(std::move(pending_.at(index).node));
            for (const size_t reader : readers[index])
                if (--waiting[reader] == 0) ready.push(reader);
        }
        if (added == pending_.size()) return;
        const auto stuck = std::ranges::find_if(waiting, [](int64_t count) { return count > 0; });
        throw UserError(place(static_cast<size_t>(stuck - waiting.begin())) + " stands on or behind a cycle");
    }

    ImportState& state_;
    GraphReader* outer_;
    std::string prefix_;
    int depth_;
    proto::Graph file_;
    Graph graph_;
    std::unordered_map<std::string, std::string_view> initializers_;
    std::unordered_map<std::string, ValueId> names_;
    std::unordered_map<std::string_view, ElementType> inner_types_;
    std::vector<std::string> origins_;  // by node index in the file, as are the next two
    std::vector<bool> is_constant_;
    std::vector<std::vector<ValueId>> outputs_;
    std::vector<size_t> producers_;  // node index by value
    std::map<size_t, Pending> pending_;
    std::vector<ValueId> captured_;  // by the sub-graphs of the node that is being read
};

}  // namespace

Graph import_graph(std::string_view message, ImportState& state) {
    return GraphReader(state, nullptr, "").read(message);
}

}  // namespace headway
