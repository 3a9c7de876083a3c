// Walks the knob registry: whoever adds a knob is tested here without writing a test.
#include <gtest/gtest.h>

#include <set>

#include "staged/staged_engine.h"
#include "support/graph_engine.h"
#include "support/promise.h"

namespace headway {
namespace {

using testing::allowed;
using testing::catalogue;

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

// A witness along one route: an engine of open shapes where the graph leaves extents open.
struct Trial {
    Hash fingerprint;
    std::vector<Tensor> outputs;
};

bool is_open(const Graph& graph) {
    return !std::ranges::all_of(graph.inputs, [&](ValueId id) { return graph.value(id).has_static_shape(); });
}

Trial run_trial(const Graph& graph, const Route& route, const Target& target, const std::vector<Tensor>& inputs) {
    if (!is_open(graph)) {
        const Plan plan = build(graph, {}, route, target, catalogue()).plan;
        return {plan.fingerprint(), testing::run_engine(plan, target, inputs)};
    }
    const std::vector<Datum> data(inputs.begin(), inputs.end());
    const EngineFile file = build_staged(graph, {}, route, target, catalogue(), {}, data);
    Trial trial{file.fingerprint(), {}};
    for (Datum& datum : StagedEngine::make(file, catalogue())->run(data))
        trial.outputs.push_back(std::get<Tensor>(std::move(datum)));
    return trial;
}

class EveryKnob : public ::testing::TestWithParam<const KnobBase*> {};

// Each value on its witness gives outputs within the knob's promise: bit-equal to the default's when it is `exact`.
TEST_P(EveryKnob, StaysInsideTheGate) {
    const KnobBase& knob = *GetParam();
    const Graph graph = testing::witness_graph(knob.witness());
    const std::vector<Tensor> inputs = testing::random_inputs(graph);
    const std::vector<Tensor> reference = interpret(graph, inputs, catalogue().ops);
    for (const Target& target : targets()) {
        const Route base = Route::parse(knob.witness_route(), catalogue().knobs);
        const std::vector<Tensor> plain = run_trial(graph, base, target, inputs).outputs;
        for (const std::string& value : knob.values()) {
            const std::vector<Tensor> got = run_trial(graph, base.with(knob, value), target, inputs).outputs;
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
    const auto fingerprint = [&](const Route& route) {
        return is_open(graph) ? build_staged(graph, {}, route, target, catalogue(), {}, {}).fingerprint()
                              : build(graph, {}, route, target, catalogue()).plan.fingerprint();
    };
    const Hash plain = fingerprint(base);
    bool alive = false;
    for (const std::string& value : knob.values()) alive = alive || fingerprint(base.with(knob, value)) != plain;
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
