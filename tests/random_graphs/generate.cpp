#include "generate.h"

#include <algorithm>

#include "maker.h"

namespace headway::testing {
namespace {

struct Weighted {
    void (*make)(Maker&);
    int weight;
};

constexpr Weighted makers[] = {
    {make_unary, 8},
    {make_binary, 9},
    {make_choice, 2},
    {make_integer, 1},
    {make_cast, 2},
    {make_convolution, 8},
    {make_transposed_convolution, 3},
    {make_product, 6},
    {make_pool, 4},
    {make_normalization, 4},
    {make_softmax, 2},
    {make_reduction, 4},
    {make_recurrent, 2},
    {make_concat, 4},
    {make_split, 2},
    {make_slice, 3},
    {make_pad, 3},
    {make_transpose, 5},
    {make_reshape, 5},
    {make_gather, 2},
    {make_repeat, 2},
    {make_resize, 2},
    {make_blocks, 1},
    {make_order, 2},
    {make_quantized_pair, 3},
    {make_quantized_convolution, 2},
    {make_integer_convolution, 2},
    {make_quantized_product, 2},
    {make_spelled, 3},
    {make_residual, 3},
    {make_attention, 1},
    {make_identity, 2},
    {make_duplicate, 2},
    {make_constant_chain, 1},
    {make_branch, 1},
    {make_shape_chain, 1},
};

void make_inputs(Maker& maker) {
    for (int64_t k = maker.between(1, 3); k > 0; --k) {
        static const std::vector<size_t> ranks{0, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5};
        maker.input(maker.rng.chance(0.05) ? ElementType::i64 : ElementType::f32,
                    maker.random_shape(maker.any_of(ranks)));
    }
}

void make_nodes(Maker& maker) {
    int total = 0;
    for (const Weighted& one : makers) total += one.weight;
    for (int64_t k = maker.between(2, maker.rng.chance(0.2) ? 30 : 12); k > 0; --k) {
        auto draw = static_cast<int>(maker.rng.below(static_cast<uint64_t>(total)));
        for (const Weighted& one : makers)
            if ((draw -= one.weight) < 0) {
                one.make(maker);
                break;
            }
    }
}

// The last value, others now and then, and sometimes an input or a constant; nobody reads the rest.
void choose_outputs(Maker& maker) {
    std::vector<ValueId> chosen{maker.pool().back()};
    for (ValueId id : maker.pool())
        if (maker.rng.chance(maker.graph.value(id).producer == no_node ? 0.05 : 0.15)) chosen.push_back(id);
    if (maker.rng.chance(0.03)) chosen.push_back(maker.floats({3}));
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    maker.rng.shuffle(std::span<ValueId>(chosen));
    maker.graph.outputs = chosen;
}

std::string all_passes_off(const Catalogue& catalogue) {
    std::string text;
    for (const Pass* pass : catalogue.passes)
        if (pass->fields().enabled != nullptr)
            text += (text.empty() ? "" : ",") + std::string(pass->fields().enabled->name()) + "=off";
    return text;
}

std::string random_route(const Catalogue& catalogue, const std::vector<std::string>& sites, Rng& rng) {
    Route route;
    const double share = rng.coin() ? 1.0 : rng.coin() ? 0.3 : 0.05;
    for (const KnobBase* knob : catalogue.knobs) {
        const auto& values = knob->values();
        if (rng.chance(share)) route = route.with(*knob, values[static_cast<size_t>(rng.below(values.size()))]);
        if (knob->scope() == Scope::site && !sites.empty() && rng.chance(0.1))
            route = route.with(*knob, values[static_cast<size_t>(rng.below(values.size()))],
                               sites[static_cast<size_t>(rng.below(sites.size()))]);
    }
    return route.text();
}

std::string random_target(Rng& rng) {
    Target target = Target::native();
    if (rng.chance(0.4)) target.isa = rng.coin() && runs_here(Isa::avx2) ? Isa::avx2 : Isa::baseline;
    if (target.isa != Isa::avx512) target.avx512_vnni = target.avx512_bf16 = target.avx512_fp16 = false;
    target.threads = rng.coin() ? 1 : 2;
    return target.text();
}

}  // namespace

Cases random_cases(uint64_t seed, const Catalogue& catalogue) {
    Rng rng(seed);
    Maker maker(rng.next(), rng.chance(0.15), catalogue.ops);
    make_inputs(maker);
    make_nodes(maker);
    choose_outputs(maker);
    Cases cases{{std::move(maker.graph), seed, maker.special()}, {}};
    const std::vector<std::string> sites = site_names(bind(cases.problem.graph, {}, catalogue.ops));
    cases.ways.push_back({"", random_target(rng)});
    cases.ways.push_back({all_passes_off(catalogue), random_target(rng)});
    for (int k = 0; k < 3; ++k) cases.ways.push_back({random_route(catalogue, sites, rng), random_target(rng)});
    return cases;
}

}  // namespace headway::testing
