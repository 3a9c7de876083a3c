// A division by a constant becomes a multiplication by its reciprocal.
#include <algorithm>
#include <cmath>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_div_to_mul",
    .help = "Divides by constants by multiplying by their reciprocals: always, or only by powers of two (no rounding).",
    .family = "rewrite",
    .values = {"all", "exact", "off"},
    .numerics = Numerics::reorders,
    .witness = "div_constant",
}};

Verdict may_invert(const Tensor& divisor, bool exact_only) {
    const auto data = divisor.data<float>();
    if (!std::ranges::all_of(data, [](float x) { return std::isnormal(x) && std::isnormal(1 / x); }))
        return Verdict::no(Reason::accuracy, "a reciprocal is not a normal number");
    if (exact_only && !std::ranges::all_of(data, has_exact_reciprocal))
        return Verdict::no(Reason::knob, "rewrite_div_to_mul=exact");
    return Verdict::yes();
}

bool run(PassContext& context) {
    Graph& graph = context.graph;
    const bool exact_only = context.route.get(enabled) == "exact";
    return rewrite_each(graph, [&](NodeId id) {
        const Node node = graph.node(id);
        if (!is_op(node, "Div") || graph.value(node.outputs[0]).type != ElementType::f32) return false;
        const Tensor* divisor = known(graph, node.inputs[1]);
        if (!divisor) return false;
        const std::string site = site_of(graph, id);
        if (const Verdict verdict = may_invert(*divisor, exact_only); !verdict) {
            context.refused(site, "Mul", verdict);
            return false;
        }
        std::vector<double> reciprocals;
        for (float x : divisor->data<float>()) reciprocals.push_back(1.0 / x);
        const ValueId factor = add_floats(graph, graph.value(node.inputs[1]).name, divisor->shape(), reciprocals);
        append_as(context, node.outputs[0], "Mul", {node.inputs[0], factor}, {}, node.origins);
        context.taken(site, "Mul");
        return true;
    });
}

const Pass rewrite_div_to_mul{{
    .name = "rewrite_div_to_mul",
    .help = "Turns divisions by constants into multiplications.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
