// QuantizeLinear and the DequantizeLinear nodes that read it become f32 arithmetic, which fuses with what is around:
// x / scale, rounded and kept within the type's range less the zero point, times scale. The same numbers to the bit,
// but NaN, which has no integer, stays NaN.
#include <algorithm>

#include "passes/pass.h"
#include "passes/quantized.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_quantize_pair",
    .help = "Computes QuantizeLinear followed by DequantizeLinear as f32 arithmetic that fuses with its neighbours. "
            "Without, the 8-bit tensor between them is written: a quarter of the memory where both ends are far apart.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::exact,
    .scope = Scope::site,
    .witness = "quantize_pair",
}};

// The nodes that read the quantised value, all of which must give back the numbers it stands for.
Verdict check_readers(const Graph& graph, const Uses& uses, ValueId bytes, const QuantizedAs& form) {
    if (graph.is_output(bytes)) return Verdict::no(Reason::consumers, "the quantised value is an output");
    for (NodeId reader : uses.readers(bytes)) {
        const Node& node = graph.node(reader);
        if (!is_op(node, "DequantizeLinear")) return Verdict::no(Reason::consumers, "read by " + node.op);
        if (quantized_as(graph, node) != form)
            return Verdict::no(Reason::pattern, "dequantised by another scale or zero point");
    }
    return Verdict::yes();
}

ValueId append_steps(PassContext& context, const Node& node, const QuantizedAs& form,
                     const std::vector<std::string>& origins) {
    const auto number = [&](const char* hint, double value) {
        return add_floats(context.graph, node.origins.front() + hint, {}, {value});
    };
    const ValueId scale = number(".scale", form.scale);
    const ValueId low = number(".low", static_cast<double>(form.low() - form.zero));
    const ValueId high = number(".high", static_cast<double>(form.high() - form.zero));
    ValueId value = append(context, "Div", {node.inputs[0], scale}, {}, origins);
    value = append(context, "Round", {value}, {}, origins);
    value = append(context, "Clip", {value, low, high}, {}, origins);
    return append(context, "Mul", {value, scale}, {}, origins);
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    return rewrite_each(graph, [&](NodeId id) {
        const Node node = graph.node(id);
        if (!is_op(node, "QuantizeLinear")) return false;
        const std::optional<QuantizedAs> form = quantized_as(graph, node);
        const Uses uses(graph);
        const std::vector<NodeId> readers = uses.readers(node.outputs[0]);
        if (!form || readers.empty()) return false;
        const std::string site = site_of(graph, id);
        if (context.route.get(enabled, node.origins) == "off") {
            context.refused(site, "f32", Verdict::no(Reason::knob, "rewrite_quantize_pair=off"));
            return false;
        }
        if (const Verdict verdict = check_readers(graph, uses, node.outputs[0], *form); !verdict) {
            context.refused(site, "f32", verdict);
            return false;
        }
        std::vector<NodeId> nodes{id};
        nodes.insert(nodes.end(), readers.begin(), readers.end());
        const ValueId value = append_steps(context, node, *form, merged_origins(graph, nodes));
        for (NodeId reader : readers)
            if (!graph.node(reader).dead) replace_value(context, graph.node(reader).outputs[0], value);
        context.taken(site, "f32");
        return true;
    });
}

const Pass rewrite_quantize_pair{{
    .name = "rewrite_quantize_pair",
    .help = "Turns QuantizeLinear followed by DequantizeLinear into f32 arithmetic.",
    .phase = Phase::group,
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
