// Activations that no kernel knows by name become the arithmetic that they stand for, which fuses into whatever makes
// their input.
#include <map>

#include "passes/match.h"
#include "passes/pass.h"
#include "passes/replacement.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_activations",
    .help = "Spells PRelu, Mish, Selu, Celu, Softsign and Swish out in operators that fuse; off: each is a pass over "
            "memory in plain code.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "rare_activations",
}};

// max(x, 0) + slope * min(x, 0)
void spell_prelu(Replacement& spell, const Node& node) {
    const ValueId negative = spell.make("Min", {spell.node().inputs[0], spell.number(0)});
    const ValueId scaled = spell.make("Mul", {negative, node.inputs[1]});
    spell.finish("Add", {spell.make("Relu", {spell.node().inputs[0]}), scaled});
}

void spell_mish(Replacement& spell, const Node&) {
    spell.finish("Mul",
                 {spell.node().inputs[0], spell.make("Tanh", {spell.make("Softplus", {spell.node().inputs[0]})})});
}

void spell_selu(Replacement& spell, const Node& node) {
    const Attributes elu = attributes_with({}, "alpha", node.attributes.real("alpha", 1.67326319F));
    spell.finish("Mul", {spell.make("Elu", {spell.node().inputs[0]}, elu),
                         spell.number(node.attributes.real("gamma", 1.05070102F))});
}

// alpha * Elu(x / alpha)
void spell_celu(Replacement& spell, const Node& node) {
    const float alpha = node.attributes.real("alpha", 1.0F);
    if (alpha == 1) return spell.finish("Elu", {spell.node().inputs[0]}, attributes_with({}, "alpha", 1.0F));
    const ValueId scaled = spell.make("Mul", {spell.node().inputs[0], spell.number(1.0 / double{alpha})});
    const ValueId elu = spell.make("Elu", {scaled}, attributes_with({}, "alpha", 1.0F));
    spell.finish("Mul", {elu, spell.number(alpha)});
}

void spell_softsign(Replacement& spell, const Node&) {
    const ValueId below = spell.make("Add", {spell.make("Abs", {spell.node().inputs[0]}), spell.number(1)});
    spell.finish("Div", {spell.node().inputs[0], below});
}

void spell_swish(Replacement& spell, const Node& node) {
    const float alpha = node.attributes.real("alpha", 1.0F);
    const ValueId scaled =
        alpha == 1 ? spell.node().inputs[0] : spell.make("Mul", {spell.node().inputs[0], spell.number(alpha)});
    spell.finish("Mul", {spell.node().inputs[0], spell.make("Sigmoid", {scaled})});
}

using Spelling = void (*)(Replacement&, const Node&);

Spelling spelling_of(const Node& node) {
    static const std::map<std::string_view, Spelling> spellings{
        {"PRelu", spell_prelu}, {"Mish", spell_mish},         {"Selu", spell_selu},
        {"Celu", spell_celu},   {"Softsign", spell_softsign}, {"Swish", spell_swish},
    };
    const auto found = node.domain.empty() ? spellings.find(node.op) : spellings.end();
    return found == spellings.end() ? nullptr : found->second;
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        const Node node = context.graph.node(id);
        const Spelling spelling = spelling_of(node);
        if (spelling == nullptr || context.graph.value(node.outputs[0]).type != ElementType::f32) return false;
        Replacement speller(context, node);
        spelling(speller, node);
        context.taken(node.origins.front(), node.op);
        return true;
    });
}

const Pass rewrite_activations{{
    .name = "rewrite_activations",
    .help = "Spells rare activations out.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
