#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/inspect.h"

namespace headway {
namespace {

struct Counts {
    std::map<std::string, int64_t> operators;
    int64_t nodes = 0, constants = 0, elements = 0, bytes = 0;
};

void count(const Graph& graph, Counts& counts) {
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        const Node& node = graph.node(id);
        ++counts.nodes;
        ++counts.operators[node.domain.empty() ? node.op : node.domain + "/" + node.op];
        for (const Subgraph& sub : node.subgraphs) count(*sub.graph, counts);
    }
    for (ValueId id = 0; id < graph.value_count(); ++id) {
        const Tensor* constant = graph.constant(id);
        if (constant == nullptr) continue;
        ++counts.constants;
        counts.elements += constant->elements();
        counts.bytes += static_cast<int64_t>(constant->size_bytes());
    }
}

// "f32", "sequence f32".
std::string type_text(const Value& value) {
    const std::string type(to_string(value.type));
    return value.kind == DeclaredKind::tensor ? type : std::string(to_string(value.kind)) + " " + type;
}

nlohmann::ordered_json port_json(const Value& value) {
    nlohmann::ordered_json dims = nlohmann::ordered_json::array();
    if (!value.dims) dims = nullptr;
    for (const Dim& dim : value.dims.value_or(std::vector<Dim>{})) {
        if (dim.known())
            dims.push_back(dim.extent);
        else
            dims.push_back(escaped(dim.symbol));
    }
    return {{"name", escaped(value.name)}, {"type", type_text(value)}, {"dims", dims}};
}

std::string port_text(const Value& value) {
    std::string dims = value.dims || value.kind != DeclaredKind::tensor ? "" : "unknown rank";
    if (value.dims && value.dims->empty()) dims = "scalar";
    for (const Dim& dim : value.dims.value_or(std::vector<Dim>{}))
        dims += (dims.empty() ? "" : "x") + (dim.known() ? std::to_string(dim.extent) : escaped(dim.symbol));
    return fmt::format("{}  {} {}", escaped(value.name), type_text(value), dims);
}

std::string opsets_text(const OnnxModel& model) {
    std::string text;
    for (const auto& [domain, version] : model.opsets)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : escaped(domain), version);
    return text;
}

// Most frequent first, then by name.
std::vector<std::pair<std::string, int64_t>> ranked(const std::map<std::string, int64_t>& counts) {
    std::vector<std::pair<std::string, int64_t>> entries(counts.begin(), counts.end());
    std::ranges::stable_sort(entries, [](const auto& a, const auto& b) { return a.second > b.second; });
    return entries;
}

}  // namespace

std::string model_text(const OnnxModel& model) {
    Counts counts;
    count(model.graph, counts);
    std::string text = fmt::format(
        "ONNX model, IR version {}, by {}\n  hash       {}\n  opsets     {}\n", model.ir_version,
        model.producer.empty() ? "an unnamed producer" : escaped(model.producer), model.hash.hex(), opsets_text(model));
    text += fmt::format("  nodes      {}\n  constants  {} with {} elements, {:.1f} MiB\n", counts.nodes,
                        counts.constants, counts.elements, static_cast<double>(counts.bytes) / (1 << 20));
    for (const ValueId id : model.graph.inputs) text += "  input      " + port_text(model.graph.value(id)) + "\n";
    for (const ValueId id : model.graph.outputs) text += "  output     " + port_text(model.graph.value(id)) + "\n";
    if (!model.defaulted_inputs.empty())
        text += fmt::format("  {} more inputs have initialisers and are taken as constants\n",
                            model.defaulted_inputs.size());
    for (const auto& [name, number] : ranked(counts.operators))
        text += fmt::format("  {:>6} {}\n", number, escaped(name));
    return text;
}

nlohmann::ordered_json model_json(const OnnxModel& model) {
    Counts counts;
    count(model.graph, counts);
    nlohmann::ordered_json json = {{"kind", "model"},
                                   {"hash", model.hash.hex()},
                                   {"ir_version", model.ir_version},
                                   {"producer", escaped(model.producer)},
                                   {"opsets", nlohmann::ordered_json::object()},
                                   {"nodes", counts.nodes},
                                   {"constants", counts.constants},
                                   {"constant_bytes", counts.bytes}};
    for (const auto& [domain, version] : model.opsets)
        json["opsets"][domain.empty() ? "ai.onnx" : escaped(domain)] = version;
    json["inputs"] = json["outputs"] = nlohmann::ordered_json::array();
    for (const ValueId id : model.graph.inputs) json["inputs"].push_back(port_json(model.graph.value(id)));
    for (const ValueId id : model.graph.outputs) json["outputs"].push_back(port_json(model.graph.value(id)));
    for (const auto& [name, number] : ranked(counts.operators)) json["operators"][escaped(name)] = number;
    return json;
}

}  // namespace headway
