// Walks the knob registry: whoever adds a knob is tested here without writing a test.
#include <gtest/gtest.h>

#include <set>

#include "support/graph_engine.h"

namespace headway {
namespace {

using testing::catalogue;

// How far a knob's values may move outputs of order one, by its promise.
double allowed(Numerics numerics) {
    switch (numerics) {
        case Numerics::exact:
            return 0;
        case Numerics::reorders:
            return 2e-5;
        case Numerics::approximates:
            return 2e-4;  // Winograd F(4,3), polynomials
        case Numerics::reduced:
            return 3e-2;  // bfloat16 has 8 bits
    }
    return 0;
}

Target target_of(const KnobBase& knob, Target native) {
    if (knob.witness_target().empty()) return native;
    Target target = Target::parse(knob.witness_target());
    target.threads = native.threads;
    return target;
}

// At least two threads, so that thread knobs have something to decide.
Target native_target() {
    Target target = Target::native();
    target.threads = std::max(target.threads, 2);
    return target;
}

std::vector<Target> targets() {
    std::vector<Target> list{native_target()};
    for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!runs_here(isa) || isa == list[0].isa) continue;
        Target target = list[0];
        target.isa = isa;
        list.push_back(target);
    }
    return list;
}

class EveryKnob : public ::testing::TestWithParam<const KnobBase*> {};

// Each value on its witness gives outputs within the knob's promise: bit-equal to the default's when it is `exact`.
TEST_P(EveryKnob, StaysInsideTheGate) {
    const KnobBase& knob = *GetParam();
    const Graph graph = testing::witness_graph(knob.witness());
    const std::vector<Tensor> inputs = testing::random_inputs(graph);
    const std::vector<Tensor> reference = interpret(bind(graph, {}, catalogue().ops), inputs, catalogue().ops);
    for (const Target& target : targets()) {
        const Route base = Route::parse(knob.witness_route(), catalogue().knobs);
        const std::vector<Tensor> plain =
            testing::run_engine(build(graph, {}, base, target, catalogue()).plan, target, inputs);
        for (const std::string& value : knob.values()) {
            const Build built = build(graph, {}, base.with(knob, value), target, catalogue());
            const std::vector<Tensor> got = testing::run_engine(built.plan, target, inputs);
            if (knob.numerics() == Numerics::exact) {
                EXPECT_TRUE(testing::same_bits(got, plain))
                    << knob.name() << "=" << value << " on " << to_string(target.isa) << " is not exact";
            }
            EXPECT_LE(testing::worst_difference(got, reference), std::max(allowed(knob.numerics()), 2e-4))
                << knob.name() << "=" << value << " on " << to_string(target.isa);
        }
    }
}

// At least one value builds another engine than the default.
TEST_P(EveryKnob, IsAlive) {
    const KnobBase& knob = *GetParam();
    if (knob.name().find("onednn") != std::string_view::npos && native_target().onednn == "absent")
        GTEST_SKIP() << "no oneDNN plug-in here";
    const Graph graph = testing::witness_graph(knob.witness());
    const Route base = Route::parse(knob.witness_route(), catalogue().knobs);
    const Target target = target_of(knob, native_target());
    const Hash plain = build(graph, {}, base, target, catalogue()).plan.fingerprint();
    bool alive = false;
    for (const std::string& value : knob.values())
        alive = alive || build(graph, {}, base.with(knob, value), target, catalogue()).plan.fingerprint() != plain;
    EXPECT_TRUE(alive) << knob.name() << " changes nothing on tests/graphs/" << knob.witness() << ".txt";
}

std::vector<const KnobBase*> all_knobs() { return {catalogue().knobs.begin(), catalogue().knobs.end()}; }

std::string test_name(const ::testing::TestParamInfo<const KnobBase*>& info) {
    std::string name(info.param->name());
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryKnob, ::testing::ValuesIn(all_knobs()), test_name);

TEST(Knobs, AreWellDeclared) {
    const std::set<std::string_view> families{"rewrite", "fusion", "kernel", "layout", "format", "thread", "memory"};
    std::set<std::string_view> seen;
    for (const KnobBase* knob : catalogue().knobs) {
        EXPECT_TRUE(families.contains(knob->family())) << knob->name() << ": family " << knob->family();
        EXPECT_GE(knob->values().size(), 2U) << knob->name();
        EXPECT_FALSE(knob->help().empty()) << knob->name();
        EXPECT_EQ(std::set<std::string>(knob->values().begin(), knob->values().end()).size(), knob->values().size())
            << knob->name() << " lists a value twice";
        seen.insert(knob->family());
    }
    EXPECT_EQ(seen, families);
    EXPECT_GE(catalogue().knobs.size(), 40U);
}

// Same model, route and target: the same engine, whatever else happened before.
TEST(Build, IsDeterministic) {
    const Graph graph = testing::witness_graph("conv_chain");
    const Plan a = build(graph, {}, {}, native_target(), catalogue()).plan;
    const Plan b = build(graph, {}, {}, native_target(), catalogue()).plan;
    EXPECT_EQ(a.fingerprint(), b.fingerprint());
}

}  // namespace
}  // namespace headway
