// Several builders in one study: the builder is one more choice, and one that fails costs the others nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tune_fixture.h"
#include "tuner/replay.h"
#include "tuner/report.h"

namespace headway {
namespace {

class BuildersTest : public TuneTest {
protected:
    TuneOptions two_builders(const std::string& script) {
        TuneOptions both = options(script);
        both.builders = {"native", "other"};
        both.most_trials = 24;
        return both;
    }
    int trials_of(const std::string& builder, Outcome outcome) {
        int count = 0;
        const Study study = this->study();
        for (const Trial& trial : study.trials()) count += trial.builder == builder && trial.outcome == outcome;
        return count;
    }
};

TEST_F(BuildersTest, TheFasterBuilderWinsAndSaysHowToUseItsEngine) {
    const TuneResult result = tune(two_builders(script(R"(, "effects": {"builder=other": -0.10})")));
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.builder, "other");
    EXPECT_NEAR(result.speedup, std::exp(0.10), 0.01) << "over the first builder's default";
    ASSERT_EQ(result.files.size(), 2u);
    EXPECT_EQ(read_file(folder_ + "/study/snippet.py"), "use('" + result.route + "')\n");
    EXPECT_EQ(nlohmann::json::parse(result.json()).at("snippets").at("c++"), "use();\n");
    const std::string report = report_markdown(study());
    EXPECT_NE(report.find("## Builders"), std::string::npos);
    EXPECT_NE(report.find("| other 1 |"), std::string::npos);
    EXPECT_NE(report.find("```python\nuse("), std::string::npos);
}

TEST_F(BuildersTest, TheGainOverTheBestOfTheOtherBuilderIsMeasuredToo) {
    const TuneResult result =
        tune(two_builders(script(R"(, "effects": {"builder=other": -0.10, "builder=native,k.b=2": -0.20})")));
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.builder, "native");
    EXPECT_EQ(result.route, "k.b=2");
    EXPECT_TRUE(result.snippets.empty());
    const auto evidence = nlohmann::json::parse(study().result_json()).at("evidence");
    ASSERT_EQ(evidence.at("peers").size(), 1u);
    EXPECT_EQ(evidence.at("peers")[0].at("builder"), "other");
    EXPECT_NEAR(evidence.at("peers")[0].at("speedup").get<double>(), std::exp(0.10), 0.01);
    EXPECT_NE(report_markdown(study()).find("The winner over the best engine of another builder"), std::string::npos);
}

TEST_F(BuildersTest, ABuilderWhoseDefaultIsWrongIsOutAndTheOthersGoOn) {
    const TuneResult result = tune(
        two_builders(script(R"(, "effects": {"builder=other": -0.30, "builder=native,k.a=1": -0.10}, "inert": ["k.b"],
                   "faults": {"builder=other,k.c=0": "wrong", "builder=other,k.c=1": "crash"})")));
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.builder, "native");
    EXPECT_EQ(result.route, "k.a=1");
    EXPECT_GT(trials_of("other", Outcome::wrong), 0);
    EXPECT_GT(trials_of("other", Outcome::crashed), 0);
    EXPECT_NE(report_markdown(study()).find("| - | - |"), std::string::npos) << "nothing inside the tolerance";
}

TEST_F(BuildersTest, FaultsOfRunningEnginesCostTheirTrialOnly) {
    for (const char* fault : {"crash_load", "crash_run"}) {
        TuneOptions both = two_builders(script(
            std::string(
                R"(, "effects": {"builder=native,k.a=1": -0.10}, "inert": ["k.b"], "faults": {"builder=other": ")") +
            fault + "\"}"));
        both.study = folder_ + "/" + fault;
        const TuneResult result = tune(both);
        EXPECT_EQ(result.finding, Finding::faster) << fault << ": " << result.why;
        EXPECT_EQ(result.route, "k.a=1") << fault;
    }
}

TEST_F(BuildersTest, ABuilderThatCannotOpenTheModelIsLeftOut) {
    const TuneResult result =
        tune(two_builders(script(R"(, "effects": {"k.a=1": -0.10}, "faults": {"builder=other": "crash_open"})")));
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(study().header().builders, std::vector<std::string>{"native 1"});
    TuneOptions first = two_builders(script(R"(, "faults": {"builder=native": "crash_open"})"));
    first.study = folder_ + "/study2";
    EXPECT_THROW(tune(first), UserError) << "without the reference's builder there is nothing to compare with";
}

// The system's out-of-memory killer takes whom it likes, the reference's worker too, in any phase.
TEST_F(BuildersTest, AWorkerOfTheReferenceThatDiesOnceCostsNothing) {
    for (const char* fault :
         {"crash_open", "crash_reference", "crash_build", "crash_load", "crash_check", "crash_run", "crash_certify"}) {
        TuneOptions both = two_builders(script(std::string(R"(, "effects": {"builder=native,k.a=1": -0.10},
            "inert": ["k.b", "k.c"], "faults": {"builder=native": ")") +
                                               fault + "_once\"}"));
        both.study = folder_ + "/" + fault;
        const TuneResult result = tune(both);
        EXPECT_EQ(result.finding, Finding::faster) << fault << ": " << result.why;
        EXPECT_EQ(result.route, "k.a=1") << fault;
        EXPECT_TRUE(replay(Study::read(both.study)).contradictions.empty()) << fault;
        EXPECT_TRUE(fs::exists(folder_ + "/model.json." + fault)) << fault << " did not strike";
        fs::remove(folder_ + "/model.json." + fault);
    }
}

}  // namespace
}  // namespace headway
