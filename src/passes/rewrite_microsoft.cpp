// ONNX Runtime's fused operators become the operators of ONNX that they were made of: those have kernels, and what
// fuses here decides anew. What has no such form (QLinear operators, Attention ...) stays.
#include <numeric>
#include <optional>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/replacement.h"

namespace headway {
namespace {

// One operator of a chain: it reads what the one before gives, then `others`.
struct Link {
    std::string_view op;
    std::vector<ValueId> others;
    Attributes attributes = {};
};

// The chain from `x` to the existing value `output`; it has at least one link.
void append_chain(PassContext& context, ValueId x, const std::vector<Link>& links, ValueId output,
                  const std::vector<std::string>& origins) {
    for (const Link& link : links) {
        std::vector<ValueId> inputs{x};
        inputs.insert(inputs.end(), link.others.begin(), link.others.end());
        if (&link == &links.back())
            append_as(context, output, link.op, std::move(inputs), link.attributes, origins);
        else
            x = append(context, link.op, std::move(inputs), link.attributes, origins);
    }
}

bool is_microsoft(const Node& node, std::string_view op) { return node.op == op && node.domain == "com.microsoft"; }

bool uses_output(const Node& node, size_t index) {
    return index < node.outputs.size() && node.outputs[index] != no_value;
}

bool expand_gelu(PassContext& context, const Node& node) {
    const bool by_tanh = is_microsoft(node, "FastGelu");
    std::vector<Link> links;
    if (const ValueId bias = input_of(node, 1); bias != no_value) links.push_back({"Add", {bias}});
    links.push_back({"Gelu", {}, attributes_with({}, "approximate", std::string(by_tanh ? "tanh" : "none"))});
    append_chain(context, node.inputs[0], links, node.outputs[0], node.origins);
    return true;
}

bool expand_quick_gelu(PassContext& context, const Node& node) {
    Replacement build(context, node);
    const ValueId scaled = build.make("Mul", {node.inputs[0], build.number(node.attributes.real("alpha", 1.702F))});
    build.finish("Mul", {node.inputs[0], build.make("Sigmoid", {scaled})});
    return true;
}

// The fourth output is the sum.
bool expand_skip_norm(PassContext& context, const Node& node) {
    if (uses_output(node, 1) || uses_output(node, 2) || node.outputs[0] == no_value) return false;
    std::vector<Link> links{{"Add", {node.inputs[1]}}};
    if (const ValueId bias = input_of(node, 4); bias != no_value) links.push_back({"Add", {bias}});
    Attributes attributes = attributes_with({}, "epsilon", node.attributes.real("epsilon", 1e-12F));
    attributes.set("axis", int64_t{-1});
    Link norm{"LayerNormalization", {node.inputs[2]}, std::move(attributes)};
    if (const ValueId beta = input_of(node, 3); beta != no_value) norm.others.push_back(beta);
    if (!uses_output(node, 3)) {
        links.push_back(std::move(norm));
        append_chain(context, node.inputs[0], links, node.outputs[0], node.origins);
        return true;
    }
    append_chain(context, node.inputs[0], links, node.outputs[3], node.origins);
    append_chain(context, node.outputs[3], {norm}, node.outputs[0], node.origins);
    return true;
}

ValueId turned(PassContext& context, ValueId value, bool is_turned, const std::vector<std::string>& origins) {
    const size_t rank = context.graph.value(value).shape().rank();
    if (!is_turned || rank < 2) return value;
    std::vector<int64_t> perm(rank);
    std::iota(perm.begin(), perm.end(), int64_t{0});
    std::swap(perm[rank - 2], perm[rank - 1]);
    return append(context, "Transpose", {value}, attributes_with({}, "perm", std::move(perm)), origins);
}

bool expand_matmul(PassContext& context, const Node& node) {
    const auto flag = [&](const char* name) { return node.attributes.integer(name, 0) != 0; };
    if (flag("transBatchA") || flag("transBatchB")) return false;
    std::vector<Link> links{{"MatMul", {turned(context, node.inputs[1], flag("transB"), node.origins)}}};
    if (const float alpha = node.attributes.real("alpha", 1); alpha != 1)
        links.push_back({"Mul", {add_floats(context.graph, node.origins.front() + ".alpha", {}, {alpha})}});
    append_chain(context, turned(context, node.inputs[0], flag("transA"), node.origins), links, node.outputs[0],
                 node.origins);
    return true;
}

// The activation of a FusedConv or FusedGemm as a link: none for no activation. Nothing when ONNX has no operator for
// it.
std::optional<std::vector<Link>> activation_links(Graph& graph, const Node& node, std::optional<float> alpha,
                                                  std::optional<float> beta) {
    const std::string name = node.attributes.text("activation", "");
    if (name.empty()) return std::vector<Link>{};
    for (const std::string_view plain : {"Relu", "Tanh", "Sigmoid"})
        if (name == plain) return std::vector<Link>{{plain, {}}};
    if (name == "LeakyRelu")
        return std::vector<Link>{{"LeakyRelu", {}, attributes_with({}, "alpha", alpha.value_or(0.01F))}};
    if (name == "HardSigmoid")
        return std::vector<Link>{
            {"HardSigmoid",
             {},
             attributes_with(attributes_with({}, "alpha", alpha.value_or(0.2F)), "beta", beta.value_or(0.5F))}};
    if (name != "Clip" || !alpha || !beta) return std::nullopt;
    return std::vector<Link>{{"Clip",
                              {add_floats(graph, node.origins.front() + ".min", {}, {*alpha}),
                               add_floats(graph, node.origins.front() + ".max", {}, {*beta})}}};
}

// What the operator was before it took an activation.
Attributes without_activation(const Node& node) {
    Attributes attributes = node.attributes;
    for (const char* name :
         {"activation", "activation_params", "activation_alpha", "activation_beta", "activation_gamma"})
        attributes.erase(name);
    return attributes;
}

bool expand_conv(PassContext& context, const Node& node) {
    const std::vector<float> parameters = node.attributes.reals("activation_params");
    const auto parameter = [&](size_t k) {
        return k < parameters.size() ? std::optional<float>(parameters[k]) : std::nullopt;
    };
    const auto activation = activation_links(context.graph, node, parameter(0), parameter(1));
    if (!activation) return false;
    Link conv{"Conv", {node.inputs[1]}, without_activation(node)};
    if (const ValueId bias = input_of(node, 2); bias != no_value) conv.others.push_back(bias);
    std::vector<Link> links{std::move(conv)};
    if (const ValueId added = input_of(node, 3); added != no_value) links.push_back({"Add", {added}});
    links.insert(links.end(), activation->begin(), activation->end());
    append_chain(context, node.inputs[0], links, node.outputs[0], node.origins);
    return true;
}

bool expand_gemm(PassContext& context, const Node& node) {
    const auto parameter = [&](const char* name) {
        return node.attributes.has(name) ? std::optional<float>(node.attributes.real(name, 0)) : std::nullopt;
    };
    const auto activation =
        activation_links(context.graph, node, parameter("activation_alpha"), parameter("activation_beta"));
    if (!activation) return false;
    std::vector<Link> links{
        {"Gemm", std::vector<ValueId>(node.inputs.begin() + 1, node.inputs.end()), without_activation(node)}};
    links.insert(links.end(), activation->begin(), activation->end());
    append_chain(context, node.inputs[0], links, node.outputs[0], node.origins);
    return true;
}

bool expand(PassContext& context, const Node& node) {
    if (is_microsoft(node, "Gelu") || is_microsoft(node, "FastGelu") || is_microsoft(node, "BiasGelu"))
        return expand_gelu(context, node);
    if (is_microsoft(node, "QuickGelu")) return expand_quick_gelu(context, node);
    if (is_microsoft(node, "SkipLayerNormalization")) return expand_skip_norm(context, node);
    if (is_microsoft(node, "FusedMatMul") || is_microsoft(node, "TransposeMatMul")) return expand_matmul(context, node);
    if (is_microsoft(node, "FusedConv")) return expand_conv(context, node);
    return is_microsoft(node, "FusedGemm") && expand_gemm(context, node);
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node node = graph.node(id);
        if (node.domain != "com.microsoft" || input_of(node, 0) == no_value ||
            graph.value(node.inputs[0]).type != ElementType::f32)
            return false;
        const std::string site = site_of(graph, id);
        if (!expand(context, node)) return false;
        context.taken(site, "ONNX's operators");
        return true;
    });
}

const Pass rewrite_microsoft{{
    .name = "rewrite_microsoft",
    .help = "Turns ONNX Runtime's fused operators into those of ONNX.",
    .run = run,
}};

}  // namespace
}  // namespace headway
