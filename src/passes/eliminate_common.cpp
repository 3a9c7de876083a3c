// Nodes that compute the same from the same inputs become one; so do equal constants.
#include <algorithm>
#include <map>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "eliminate_common",
    .help = "Computes equal nodes once.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .witness = "common_nodes",
}};

struct AttributeText {
    std::string operator()(int64_t value) const { return "i" + std::to_string(value); }
    std::string operator()(float value) const { return "f" + hash_bytes(&value, sizeof value).hex(); }
    std::string operator()(const std::string& value) const { return "s" + std::to_string(value.size()) + ":" + value; }
    std::string operator()(const Tensor& value) const { return "t" + value.hash().hex(); }
    std::string operator()(const Strings& value) const { return "T" + value.hash().hex(); }
    template <class T>
    std::string operator()(const std::vector<T>& values) const {
        std::string text = "[" + std::to_string(values.size());
        for (const T& value : values) text += " " + (*this)(value);
        return text + "]";
    }
};

std::string key_of(const Node& node, const std::map<ValueId, ValueId>& same) {
    std::string key = node.domain + "/" + node.op + ":" + std::to_string(node.version);
    for (ValueId input : node.inputs) {
        const auto at = same.find(input);
        key += " " + std::to_string(at == same.end() ? input : at->second);
    }
    for (const auto& [name, value] : node.attributes) key += " " + name + "=" + std::visit(AttributeText{}, value);
    // An output that one node has and the other lacks would be lost.
    for (ValueId output : node.outputs) key += output == no_value ? " _" : " o";
    return key;
}

bool is_function(const Node& node) {
    return node.subgraphs.empty() && !node.body && !node.op.starts_with("Random") && node.op != "Bernoulli" &&
           node.op != "Multinomial" && !(node.op == "Dropout" && node.inputs.size() > 2);
}

// Each constant's first equal one.
std::map<ValueId, ValueId> equal_constants(const Graph& graph) {
    std::map<ValueId, ValueId> same;
    std::map<Hash, ValueId> firsts;
    for (ValueId id = 0; id < graph.value_count(); ++id) {
        const Tensor* tensor = known(graph, id);
        if (!tensor || tensor->type() == ElementType::string) continue;
        const auto [first, fresh] = firsts.try_emplace(tensor->hash(), id);
        if (!fresh) same[id] = first->second;
    }
    return same;
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    const std::map<ValueId, ValueId> same = equal_constants(graph);
    std::map<std::string, NodeId> firsts;
    return rewrite_each(graph, [&](NodeId id) {
        if (!is_function(graph.node(id))) return false;
        const auto [first, fresh] = firsts.try_emplace(key_of(graph.node(id), same), id);
        if (fresh) return false;
        const std::vector<ValueId> later = graph.node(id).outputs;
        const std::vector<ValueId> earlier = graph.node(first->second).outputs;
        const std::string site = site_of(graph, id);
        const auto both_outputs = [&](size_t i) { return graph.is_output(later[i]) && graph.is_output(earlier[i]); };
        bool blocked = false;
        for (size_t i = 0; i < later.size(); ++i) blocked = blocked || (later[i] != no_value && both_outputs(i));
        if (blocked) {
            context.refused(site, "eliminate", Verdict::no(Reason::consumers, "both are graph outputs"));
            return false;
        }
        std::vector<std::string> origins = merged_origins(graph, {first->second, id});
        for (size_t i = 0; i < later.size(); ++i)
            if (later[i] != no_value) replace_value(context, later[i], earlier[i]);
        graph.node(first->second).origins = std::move(origins);
        context.taken(site, "eliminate");
        return true;
    });
}

const Pass eliminate_common{{
    .name = "eliminate_common",
    .help = "Computes equal nodes once.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
