// One test per case of tests/passes/*.txt: the pass gives the graph that is written there, and the graph computes the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "case_file.h"
#include "closeness.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "passes/manager.h"

namespace headway {
namespace {

const Registry<Op>& all_ops() {
    static const Registry<Op> ops = declared<Op>();
    return ops;
}

std::string printed(const Graph& graph) { return print_graph(graph, std::numeric_limits<int64_t>::max()); }

class PassText : public testing::TestWithParam<PassCase> {};

TEST_P(PassText, GivesTheGraph) {
    const PassCase& given = GetParam();
    const Graph before = bound_graph(given.before, all_ops());
    verify_graph(before, Stage::grouped);
    const Registry<Pass> passes = declared<Pass>();
    const Route route = Route::parse(given.route, declared<KnobBase>());
    std::vector<Decision> decisions;
    Graph graph = before;
    if (given.pass == "pipeline") {
        run_pipeline(graph, route, Target{}, all_ops(), passes, decisions);
    } else {
        const Pass* pass = passes.find(given.pass);
        ASSERT_NE(pass, nullptr) << given.pass;
        PassContext context{graph, route, Target{}, all_ops(), decisions, {}};
        // Once more must change nothing: passes are run until nothing changes.
        for (int round = 0;
             round < 10 && run_pass(*pass, context, [&] { return before; }) && pass->fields().phase == Phase::rewrite;
             ++round)
            ASSERT_LT(round, 9) << "the pass never comes to an end";
    }
    verify_graph(graph, Stage::grouped);
    const Graph wanted = given.unchanged ? before : bound_graph(given.after, all_ops());
    EXPECT_EQ(difference(graph, wanted), "") << printed(graph);
    if (!given.refuses.empty()) {
        EXPECT_TRUE(std::ranges::any_of(decisions,
                                        [&](const Decision& decision) {
                                            return !decision.taken &&
                                                   to_string(decision.verdict.reason) == given.refuses;
                                        }))
            << "no refusal for the reason " << given.refuses;
    }
    const std::vector<Tensor> inputs = inputs_for(before);
    EXPECT_EQ(disagreement(interpret(graph, inputs, all_ops()), interpret(before, inputs, all_ops()), false), "")
        << printed(graph);
}

std::string test_name(const testing::TestParamInfo<PassCase>& info) {
    std::string name = info.param.file + "__" + info.param.name;
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Files, PassText, testing::ValuesIn(all_cases()), test_name);

TEST(Pipeline, NamesEveryPassOnce) {
    std::vector<std::string> order = pipeline_order();
    std::ranges::sort(order);
    EXPECT_EQ(order, declared<Pass>().names());
}

}  // namespace
}  // namespace headway
