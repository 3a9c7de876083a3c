// A Pad of the spatial axes goes into the pads of the convolution or pooling that reads it, when that one would fill
// with the same value.
#include <algorithm>
#include <cmath>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_pad_into_conv",
    .help = "Moves a Pad into the padding of the convolution or pooling after it.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "pad_conv",
}};

// Whether the reader's own padding means what a Pad with `fill` does.
Verdict pads_alike(const Node& reader, double fill) {
    const std::string auto_pad = reader.attributes.text("auto_pad", "NOTSET");
    if (auto_pad != "NOTSET" && auto_pad != "VALID") return Verdict::no(Reason::attribute, "auto_pad " + auto_pad);
    if (reader.op == "Conv") return fill == 0 ? Verdict::yes() : Verdict::no(Reason::attribute, "fill is not zero");
    if (reader.attributes.integer("ceil_mode", 0) != 0) return Verdict::no(Reason::attribute, "ceil_mode");
    if (reader.op == "MaxPool") {
        // A window wholly in the padding gives -inf both ways.
        const bool lowest = std::isinf(fill) && fill < 0;
        return lowest ? Verdict::yes() : Verdict::no(Reason::attribute, "fill is not -inf");
    }
    if (fill != 0) return Verdict::no(Reason::attribute, "fill is not zero");
    const bool pads = std::ranges::any_of(reader.attributes.integers("pads"), [](int64_t pad) { return pad != 0; });
    if (pads && reader.attributes.integer("count_include_pad", 0) == 0)
        return Verdict::no(Reason::attribute, "count_include_pad=0 with pads of its own");
    return Verdict::yes();
}

Verdict pads_only_space(const PadAmounts& amounts) {
    for (size_t axis = 0; axis < amounts.begin.size(); ++axis) {
        if (amounts.begin[axis] < 0 || amounts.end[axis] < 0) return Verdict::no(Reason::attribute, "negative pads");
        if (axis < 2 && (amounts.begin[axis] != 0 || amounts.end[axis] != 0))
            return Verdict::no(Reason::attribute, "pads batch or channels");
    }
    return Verdict::yes();
}

Verdict move(PassContext& context, NodeId pad, NodeId reader) {
    Graph& graph = context.graph;
    const Node node = graph.node(reader);
    const std::optional<PadAmounts> amounts = constant_pads(graph, graph.node(pad));
    const std::optional<double> fill = pad_fill(graph, graph.node(pad));
    if (!amounts || !fill) return Verdict::no(Reason::attribute, "mode, or pads not known");
    if (const Verdict verdict = pads_only_space(*amounts); !verdict) return verdict;
    if (const Verdict verdict = pads_alike(node, *fill); !verdict) return verdict;
    const size_t axes = amounts->begin.size() - 2;
    std::vector<int64_t> pads = node.attributes.integers("pads");
    pads.resize(2 * axes, 0);
    for (size_t i = 0; i < axes; ++i) {
        pads[i] += amounts->begin[i + 2];
        pads[i + axes] += amounts->end[i + 2];
    }
    Attributes attributes = attributes_with(node.attributes, "pads", pads);
    attributes.erase("auto_pad");
    if (node.op == "AveragePool") attributes.set("count_include_pad", int64_t{1});
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = graph.node(pad).inputs[0];
    const NodeId made = append_as(context, node.outputs[0], node.op, std::move(inputs), std::move(attributes),
                                  merged_origins(graph, {reader, pad}));
    graph.node(made).version = node.version;
    return Verdict::yes();
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    Uses uses(graph);
    return rewrite_each(graph, [&](NodeId id) {
        const Node& node = graph.node(id);
        if (!is_op(node, "Pad") || graph.value(node.outputs[0]).type != ElementType::f32) return false;
        const NodeId reader = uses.sole_reader(node.outputs[0]);
        if (reader == no_node) return false;
        const Node& after = graph.node(reader);
        const bool single = std::all_of(after.outputs.begin() + 1, after.outputs.end(),
                                        [](ValueId output) { return output == no_value; });
        if ((!is_op(after, "Conv") && !is_op(after, "AveragePool") && !is_op(after, "MaxPool")) || !single ||
            after.inputs[0] != node.outputs[0])
            return false;
        const std::string site = site_of(graph, reader);
        const Verdict verdict = move(context, id, reader);
        if (verdict) uses = Uses(graph);
        return context.decided(site, "pads", verdict);
    });
}

const Pass rewrite_pad_into_conv{{
    .name = "rewrite_pad_into_conv",
    .help = "Moves Pads into convolutions and poolings.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
