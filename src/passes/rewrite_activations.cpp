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
void spell_prelu(Replacement& spell) {
    const ValueId x = spell.node().inputs[0];
    const ValueId negative = spell.make("Min", {x, spell.number(0)});
    const ValueId scaled = spell.make("Mul", {negative, spell.node().inputs[1]});
    spell.finish("Add", {spell.make("Relu", {x}), scaled});
}

void spell_mish(Replacement& spell) {
    const ValueId x = spell.node().inputs[0];
    spell.finish("Mul", {x, spell.make("Tanh", {spell.make("Softplus", {x})})});
}

void spell_selu(Replacement& spell) {
    const ValueId x = spell.node().inputs[0];
    const Attributes elu = attributes_with({}, "alpha", spell.node().attributes.real("alpha", 1.67326319F));
    spell.finish("Mul",
                 {spell.make("Elu", {x}, elu), spell.number(spell.node().attributes.real("gamma", 1.05070102F))});
}

// alpha * Elu(x / alpha)
void spell_celu(Replacement& spell) {
    const ValueId x = spell.node().inputs[0];
    const float alpha = spell.node().attributes.real("alpha", 1.0F);
    if (alpha == 1) return spell.finish("Elu", {x}, attributes_with({}, "alpha", 1.0F));
    const ValueId scaled = spell.make("Mul", {x, spell.number(1.0 / double{alpha})});
    const ValueId elu = spell.make("Elu", {scaled}, attributes_with({}, "alpha", 1.0F));
    spell.finish("Mul", {elu, spell.number(alpha)});
}

void spell_softsign(Replacement& spell) {
    const ValueId x = spell.node().inputs[0];
    const ValueId below = spell.make("Add", {spell.make("Abs", {x}), spell.number(1)});
    spell.finish("Div", {x, below});
}

void spell_swish(Replacement& spell) {
    const ValueId x = spell.node().inputs[0];
    const float alpha = spell.node().attributes.real("alpha", 1.0F);
    const ValueId scaled = alpha == 1 ? x : spell.make("Mul", {x, spell.number(alpha)});
    spell.finish("Mul", {x, spell.make("Sigmoid", {scaled})});
}

using Spelling = void (*)(Replacement&);

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
        Replacement spell(context, node);
        spelling(spell);
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
