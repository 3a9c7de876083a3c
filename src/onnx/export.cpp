#include "onnx/export.h"

#include <algorithm>
#include <map>
#include <set>

#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "base/text.h"
#include "graph/limits.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

using protozero::pbf_writer;

constexpr int64_t written_ir_version = 8;
constexpr size_t most_bytes = (size_t{1} << 31) - 1;

std::string dim_message(const Dim& dim) {
    std::string bytes;
    pbf_writer writer(bytes);
    if (dim.known())
        writer.add_int64(1, dim.extent);
    else if (!dim.symbol.empty() && dim.symbol != "?")
        writer.add_string(2, dim.symbol);
    return bytes;
}

std::string value_info_message(const Value& value, const std::string& name) {
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_string(1, name);
    if (value.kind != DeclaredKind::tensor)
        throw Unsupported("value '" + escaped(name) + "' is declared as " + std::string(to_string(value.kind)) +
                          ", which is not exported");
    if (value.type == ElementType::undefined) return bytes;
    pbf_writer type(writer, 2);
    pbf_writer tensor(type, 1);
    tensor.add_int32(1, static_cast<int32_t>(value.type));
    if (value.dims) {
        std::string shape;  // written also when it is empty: that of a scalar
        for (const Dim& dim : *value.dims) pbf_writer(shape).add_message(1, dim_message(dim));
        tensor.add_message(2, shape);
    }
    return bytes;
}

// Numbers and values of AttributeProto; see proto.h for the reading side.
std::string attribute_message(const std::string& name, const AttributeValue& value) {
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_string(1, name);
    struct Visitor {
        pbf_writer& writer;
        int operator()(int64_t v) const { return writer.add_int64(3, v), 2; }
        int operator()(float v) const { return writer.add_float(2, v), 1; }
        int operator()(const std::string& v) const { return writer.add_bytes(4, v), 3; }
        int operator()(const std::vector<int64_t>& v) const {
            return writer.add_packed_int64(8, v.begin(), v.end()), 7;
        }
        int operator()(const std::vector<float>& v) const { return writer.add_packed_float(7, v.begin(), v.end()), 6; }
        int operator()(const std::vector<std::string>& v) const {
            for (const std::string& text : v) writer.add_bytes(9, text);
            return 8;
        }
        int operator()(const Tensor& v) const { return writer.add_message(5, write_tensor_proto(v, "")), 4; }
        int operator()(const Strings& v) const { return writer.add_message(5, write_tensor_proto(v, "")), 4; }
    };
    const int type = std::visit(Visitor{writer}, value);
    writer.add_int32(20, type);
    return bytes;
}

[[noreturn]] void refuse_size() { throw UserError("the model passes 2 GiB and cannot be written as one ONNX file"); }

// Bytes of all constants and attributes that are tensors, sub-graphs and bodies included; stops above most_bytes.
size_t tensor_bytes(const Graph& graph, int depth) {
    HEADWAY_CHECK(depth <= max_graph_depth);
    size_t total = 0;
    const auto add = [&](size_t bytes) { total = std::min(total + bytes, most_bytes + 1); };
    for (ValueId id = 0; id < graph.value_count(); ++id)
        if (graph.is_constant(id)) add(std::min(graph.constant(id)->size_bytes(), most_bytes + 1));
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        const Node& node = graph.node(id);
        for (const auto& [name, value] : node.attributes)
            if (const auto* tensor = std::get_if<Tensor>(&value)) add(std::min(tensor->size_bytes(), most_bytes + 1));
        for (const Subgraph& sub : node.subgraphs) add(tensor_bytes(*sub.graph, depth + 1));
        if (node.body) add(tensor_bytes(*node.body, depth + 1));
    }
    return total;
}

class Exporter {
public:
    std::string export_model(const Graph& graph) {
        // Before anything is copied; what else a file holds is small beside the tensors.
        if (tensor_bytes(graph, 0) > most_bytes) refuse_size();
        const std::string message = graph_message(graph, "", 0);
        std::string bytes;
        pbf_writer writer(bytes);
        writer.add_int64(1, written_ir_version);
        writer.add_string(2, "headway");
        writer.add_message(7, message);
        if (opsets_.empty()) opsets_[""] = 1;
        for (const auto& [domain, version] : opsets_) {
            pbf_writer opset(writer, 8);
            opset.add_string(1, domain);
            opset.add_int64(2, version);
        }
        if (bytes.size() > most_bytes) refuse_size();
        return bytes;
    }

private:
    using Names = std::vector<std::string>;  // by value id; "" = not written

    // `hint`, or `hint` with a number where it is taken.
    std::string fresh(const std::string& hint) {
        std::string name = hint;
        for (int number = 2; !used_.insert(name).second; ++number) name = hint + "_" + std::to_string(number);
        return name;
    }

    // `prefix` stands before the origins of a sub-graph's nodes; the importer puts it there again.
    std::string graph_message(const Graph& graph, const std::string& prefix, int depth) {
        HEADWAY_CHECK(depth <= max_graph_depth);
        Names names(static_cast<size_t>(graph.value_count()));
        for (ValueId id = 0; id < graph.value_count(); ++id) {
            names[static_cast<size_t>(id)] = graph.value(id).name;
            used_.insert(graph.value(id).name);
        }
        std::string bytes;
        pbf_writer writer(bytes);
        writer.add_string(2, "graph");
        write_constants(writer, graph, names);
        for (const NodeId id : graph.topological_order()) write_node(writer, graph.node(id), names, prefix, depth);
        for (const ValueId id : graph.inputs) writer.add_message(11, value_info_message(graph.value(id), names[id]));
        for (const ValueId id : graph.outputs) writer.add_message(12, value_info_message(graph.value(id), names[id]));
        return bytes;
    }

    static void write_constants(pbf_writer& writer, const Graph& graph, const Names& names) {
        for (ValueId id = 0; id < graph.value_count(); ++id)
            if (graph.is_constant(id)) writer.add_message(5, write_tensor_proto(*graph.constant(id), names[id]));
    }

    static std::string name_of(const Names& names, ValueId id) {
        return id == no_value ? "" : names[static_cast<size_t>(id)];
    }

    void write_node(pbf_writer& writer, const Node& node, const Names& names, const std::string& prefix, int depth) {
        if (node.body) {
            write_body(writer, node, names, prefix, depth);
            return;
        }
        int& opset = opsets_[node.domain];
        opset = std::max(opset, node.version);
        std::string bytes;
        pbf_writer message(bytes);
        for (const ValueId id : node.inputs) message.add_string(1, name_of(names, id));
        for (const ValueId id : node.outputs) message.add_string(2, name_of(names, id));
        const std::string origin = node.origins.at(0);
        message.add_string(3, origin.starts_with(prefix) ? origin.substr(prefix.size()) : origin);
        message.add_string(4, node.op);
        for (const auto& [name, value] : node.attributes) message.add_message(5, attribute_message(name, value));
        for (const Subgraph& sub : node.subgraphs) {
            std::string attribute;
            pbf_writer inner(attribute);
            inner.add_string(1, sub.attribute);
            inner.add_message(6, graph_message(*sub.graph, origin + "/" + sub.attribute + "/", depth + 1));
            inner.add_int32(20, 5);
            message.add_message(5, attribute);
        }
        if (!node.domain.empty()) message.add_string(7, node.domain);
        writer.add_message(1, bytes);
    }

    // A Group's nodes in the outer graph: body inputs and outputs take the outer names, inner values fresh ones.
    void write_body(pbf_writer& writer, const Node& group, const Names& outer, const std::string& prefix, int depth) {
        HEADWAY_CHECK(depth < max_graph_depth);
        const Graph& body = *group.body;
        Names names(static_cast<size_t>(body.value_count()));
        for (size_t i = 0; i < body.inputs.size(); ++i) names[body.inputs[i]] = name_of(outer, group.inputs[i]);
        std::vector<std::pair<ValueId, std::string>> copies;
        for (size_t i = 0; i < body.outputs.size(); ++i) {
            const ValueId id = body.outputs[i];
            const std::string name = name_of(outer, group.outputs[i]);
            if (name.empty()) continue;
            if (names[id].empty() && body.value(id).producer != no_node)
                names[id] = name;
            else
                copies.emplace_back(id, name);
        }
        for (ValueId id = 0; id < body.value_count(); ++id)
            if (names[id].empty()) names[id] = fresh(group.origins.at(0) + "/" + body.value(id).name);
        write_constants(writer, body, names);
        for (const NodeId id : body.topological_order()) write_node(writer, body.node(id), names, prefix, depth + 1);
        for (const auto& [id, name] : copies) {
            std::string bytes;
            pbf_writer message(bytes);
            message.add_string(1, names[id]);
            message.add_string(2, name);
            message.add_string(4, "Identity");
            writer.add_message(1, bytes);
        }
    }

    std::set<std::string> used_;
    std::map<std::string, int> opsets_;
};

}  // namespace

std::string export_onnx(const Graph& graph) { return Exporter().export_model(graph); }

}  // namespace headway
