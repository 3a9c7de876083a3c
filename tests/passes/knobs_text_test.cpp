// Every knob of the passes, on graphs alone: no value changes what a witness computes, and some value changes the graph
// of the knob's own witness.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "case_file.h"
#include "closeness.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "passes/pass.h"

namespace headway {
namespace {

bool is_of_passes(const KnobBase& knob) { return knob.family() == "rewrite" || knob.family() == "fusion"; }

class Knobs : public testing::Test {
protected:
    Graph piped(const Graph& graph, const Route& route) {
        Graph result = graph;
        std::vector<Decision> decisions;
        run_pipeline(result, route, Target{}, ops_, passes_, decisions);
        verify_graph(result, Stage::grouped);
        return result;
    }

    Registry<Op> ops_ = declared<Op>();
    Registry<Pass> passes_ = declared<Pass>();
    Registry<KnobBase> knobs_ = declared<KnobBase>();
};

TEST_F(Knobs, NoValueChangesTheResults) {
    for (const std::string& name : witness_names()) {
        SCOPED_TRACE(name);
        const Graph graph = witness_graph(name, ops_);
        const std::vector<Tensor> inputs = inputs_for(graph);
        const std::vector<Tensor> wanted = interpret(graph, inputs, ops_);
        // Graphs are often the same: each is run once.
        std::set<std::string> seen;
        for (const KnobBase* knob : knobs_) {
            if (!is_of_passes(*knob)) continue;
            for (const std::string& value : knob->values()) {
                const Graph result = piped(graph, Route().with(*knob, value));
                const std::string text = print_graph(result, std::numeric_limits<int64_t>::max());
                if (!seen.insert(text).second) continue;
                EXPECT_EQ(disagreement(interpret(result, inputs, ops_), wanted, false), "")
                    << knob->name() << "=" << value << "\n"
                    << print_graph(result);
            }
        }
    }
}

TEST_F(Knobs, EachChangesItsWitness) {
    int knobs = 0;
    for (const KnobBase* knob : knobs_) {
        if (!is_of_passes(*knob)) continue;
        SCOPED_TRACE(std::string(knob->name()));
        ++knobs;
        const Graph graph = witness_graph(std::string(knob->witness()), ops_);
        const Route base = Route::parse(knob->witness_route(), knobs_);
        std::set<std::string> texts;
        for (const std::string& value : knob->values())
            texts.insert(print_graph(piped(graph, base.with(*knob, value))));
        EXPECT_GT(texts.size(), 1U) << "no value changes " << knob->witness();
    }
    EXPECT_GE(knobs, 20);
}

TEST_F(Knobs, AreDeterministic) {
    for (const std::string& name : witness_names()) {
        const Graph graph = witness_graph(name, ops_);
        EXPECT_EQ(print_graph(piped(graph, Route())), print_graph(piped(graph, Route()))) << name;
    }
}

}  // namespace
}  // namespace headway
