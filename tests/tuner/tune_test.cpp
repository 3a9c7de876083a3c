// The whole loop of tune against planted landscapes and faults. Nothing here depends on how fast the machine is: times
// come from the fake's virtual clock, and the length of a session from a number of trials.
#include "tune_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "data/samples.h"
#include "tuner/replay.h"
#include "tuner/report.h"
#include "tuner/study.h"

namespace headway {
namespace {

TEST_F(TuneTest, FindsThePlantedGainAndDeliversThatEngine) {
    const TuneResult result =
        tune(options(script(R"(, "effects": {"k.b=2": -0.10, "k.a=1": 0.08}, "inert": ["k.c"])")));
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.route, "k.b=2");
    EXPECT_NEAR(result.speedup, std::exp(0.10), 0.01);
    EXPECT_LT(result.low, result.speedup);
    const auto engine = nlohmann::json::parse(read_file(result.engine));
    EXPECT_EQ(engine.at("certificate").at("verdict"), "FASTER");
    EXPECT_TRUE(engine.at("certificate").at("heldout").at("pass"));
    EXPECT_EQ(study().heldout_attempts(), 1);
    EXPECT_TRUE(replay(study()).contradictions.empty());
    const auto line = nlohmann::json::parse(result.json());
    EXPECT_EQ(line.at("verdict"), "FASTER");
    EXPECT_TRUE(line.at("accuracy").at("heldout").at("pass"));
}

// A space that forces settings which cannot matter: one is inert, another is hidden by the one that gains.
TEST_F(TuneTest, TheWinnersRouteIsPrunedToTheSettingsThatMatter) {
    TuneOptions some =
        options(script(R"(, "effects": {"k.b=2": -0.10}, "inert": ["k.c"], "hidden": {"k.b=2": ["k.a"]})"));
    some.space = "k.a=1,k.b=[0|2],k.c=1";
    const TuneResult result = tune(some);
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.route, "k.b=2");
    const Study study = this->study();
    trial("k.a=1,k.b=2,k.c=1");  // the log keeps what was found
    const Replay again = replay(study);
    EXPECT_TRUE(again.contradictions.empty());
    EXPECT_EQ(again.route, "k.b=2");
    EXPECT_NE(report_markdown(study).find("route: `k.b=2`\n- found as: `k.a=1,k.b=2,k.c=1`"), std::string::npos);
    const auto engine = nlohmann::json::parse(read_file(result.engine));
    EXPECT_EQ(engine.at("route"), "k.b=2") << "the file says the route that builds it";
}

// Dropping k.a alone would give another engine, and so would dropping k.b alone.
TEST_F(TuneTest, PruningKeepsSettingsThatMatterTogether) {
    TuneOptions some = options(script(R"(, "effects": {"k.a=1,k.b=2": -0.10, "k.a=1,k.b=2,k.c=1": -0.05})"));
    some.space = "k.a=1,k.b=2,k.c=[0|1]";
    const TuneResult result = tune(some);
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.route, "k.a=1,k.b=2,k.c=1");
    EXPECT_EQ(report_markdown(study()).find("found as"), std::string::npos);
}

TEST_F(TuneTest, WithoutAGainTheDefaultEngineIsDelivered) {
    const TuneResult result = tune(options(script(R"(, "effects": {"k.b=2": 0.10, "k.a=1": 0.08, "k.c=1": 0.01})")));
    EXPECT_EQ(result.finding, Finding::no_gain);
    EXPECT_EQ(result.route, "");
    EXPECT_EQ(result.speedup, 1);
    EXPECT_FALSE(result.why.empty());
    EXPECT_TRUE(fs::exists(result.engine));
    EXPECT_EQ(study().heldout_attempts(), 0) << "nobody may look at held-out data without a claim";
}

TEST_F(TuneTest, EqualFingerprintsAreNeitherGatedNorVisitedTwice) {
    tune(options(script(R"(, "inert": ["k.a", "k.b", "k.c"])")));
    const Study study = this->study();
    EXPECT_GT(study.trials().size(), 3u);
    EXPECT_EQ(study.engines().size(), 1u);
    for (const VisitRecord& visit : study.visits()) EXPECT_EQ(visit.purpose, Purpose::control);
    EXPECT_NE(report_markdown(study).find("Inert for this model, as far as tried: k.a, k.b, k.c"), std::string::npos);
}

TEST_F(TuneTest, EveryFaultCostsOneTrialOfTheRightClass) {
    const struct {
        const char* fault;
        Outcome outcome;
    } cases[] = {{"crash", Outcome::crashed},
                 {"hang", Outcome::timeout},
                 {"rubbish", Outcome::failed},
                 {"refuse", Outcome::refused},
                 {"unsupported", Outcome::unsupported},
                 {"throw", Outcome::failed},
                 {"crash_load", Outcome::crashed},
                 {"wrong", Outcome::wrong},
                 {"nan", Outcome::wrong},
                 {"flaky", Outcome::nondeterministic},
                 {"crash_run", Outcome::crashed}};
    for (const auto& [fault, outcome] : cases) {
        fs::remove_all(folder_ + "/study");
        TuneOptions some = options(script(
            std::string(R"(, "effects": {"k.a=1": -0.5, "k.b=1": -0.1}, "faults": {"k.a=1": ")") + fault + "\"}"));
        some.build_deadline_s = 1;
        const TuneResult result = tune(some);
        const Trial planted = trial("k.a=1");
        EXPECT_EQ(planted.outcome, outcome) << fault << ": " << planted.reason;
        EXPECT_FALSE(planted.reason.empty()) << fault;
        EXPECT_EQ(result.route, "k.b=1") << fault << ": the others go on";
        EXPECT_NE(report_markdown(study()).find(std::string(to_string(outcome))), std::string::npos);
    }
}

TEST_F(TuneTest, TheGateSaysWhyAnEngineIsOut) {
    tune(options(script(R"(, "faults": {"k.a=1": "wrong"})")));
    const Trial planted = trial("k.a=1");
    EXPECT_EQ(planted.outcome, Outcome::wrong);
    EXPECT_NE(planted.reason.find("rel_l2"), std::string::npos) << planted.reason;
    EXPECT_FALSE(fs::exists(study().engine_path(planted.fingerprint)));
}

TEST_F(TuneTest, FastInTheFirstIterationsOnlyIsNoGain) {
    const TuneResult result =
        tune(options(script(R"(, "effects": {"k.a=1": 0.05}, "faults": {"k.a=1": "cold_fast"})")));
    EXPECT_EQ(result.finding, Finding::no_gain) << result.route;
}

TEST_F(TuneTest, AnEngineThatFailsOnHeldOutDataIsNotDelivered) {
    const TuneResult result =
        tune(options(script(R"(, "effects": {"k.a=1": -0.3, "k.b=1": -0.1}, "faults": {"k.a=1": "wrong_heldout"})")));
    EXPECT_TRUE(result.route == "k.b=1" || result.route.empty()) << result.route;
    EXPECT_GE(study().heldout_attempts(), 1);
    EXPECT_LE(study().heldout_attempts(), 3);
}

TEST_F(TuneTest, ADefaultOutsideTheToleranceIsUnfit) {
    TuneOptions some = options(script(R"(, "faults": {"k.a=0": "wrong"})"));
    const TuneResult result = tune(some);
    EXPECT_EQ(result.finding, Finding::unfit);
    EXPECT_TRUE(fs::exists(result.engine));
}

TEST_F(TuneTest, ADefaultThatCannotBeBuiltIsTheUsersError) {
    const TuneOptions some = options(script(R"(, "faults": {"k.a=0": "unsupported"})"));
    EXPECT_THROW(tune(some), UserError);
    EXPECT_FALSE(fs::exists(some.output));
    EXPECT_FALSE(fs::exists(some.study));
}

TEST_F(TuneTest, BudgetsMustBePositive) {
    TuneOptions some = options(script(""));
    for (const double budget : {0.0, -5.0, std::nan("")}) {
        some.budget_s = budget;
        EXPECT_THROW(tune(some), UserError);
        EXPECT_FALSE(fs::exists(some.study)) << "nothing half-written";
    }
}

TEST_F(TuneTest, AnUnwritableOutputIsFoundBeforeTheWork) {
    TuneOptions some = options(script(""));
    some.output = folder_ + "/no-such-folder/out.hwe";
    EXPECT_THROW(tune(some), UserError);
    EXPECT_FALSE(fs::exists(some.study));
}

TEST_F(TuneTest, TheBudgetEndsTheSearch) {
    TuneOptions some = options(script(R"(, "effects": {"k.b=2": -0.10})"));
    some.most_trials = 0;
    some.budget_s = 30;  // of a clock that moves only when it is read
    const TuneResult result = tune(some);
    EXPECT_LE(result.seconds, 33);
    EXPECT_TRUE(fs::exists(result.engine));
}

TEST_F(TuneTest, StoppedByTheUserItDeliversAValidEngine) {
    TuneOptions some = options(script(R"(, "effects": {"k.b=2": -0.10})"));
    std::atomic<bool> stop = true;
    some.stop = &stop;
    const TuneResult result = tune(some);
    EXPECT_EQ(result.finding, Finding::no_gain);
    EXPECT_NE(result.why.find("user"), std::string::npos) << result.why;
    EXPECT_TRUE(fs::exists(result.engine));
}

TEST_F(TuneTest, AModelThatCannotBeOpenedLeavesNothingBehind) {
    TuneOptions some = options("{}");  // no knobs in it
    EXPECT_THROW(tune(some), UserError);
    EXPECT_FALSE(fs::exists(some.study));
    EXPECT_FALSE(fs::exists(some.output));
}

TEST_F(TuneTest, AStudyIsLocked) {
    const TuneOptions some = options(script(""));
    const Study other(some.study);
    EXPECT_THROW(tune(some), UserError);
    EXPECT_TRUE(fs::exists(some.study)) << "it belongs to the other one";
}

TEST_F(TuneTest, AnotherModelIsAnotherStudy) {
    tune(options(script("")));
    EXPECT_THROW(tune(options(script(R"(, "base_ns": 5e6)"))), UserError);
}

// Figures of two scenarios are never mixed: a study has one.
TEST_F(TuneTest, AnotherScenarioIsAnotherStudy) {
    const std::string planted = script(R"(, "effects": {"k.b=2": -0.10})");
    for (const char* scenario : {"tail:90", "throughput:2,streams:2"}) {
        TuneOptions some = options(planted);
        some.scenario = Scenario::parse(scenario);
        some.study = folder_ + "/study-" + scenario;
        some.most_trials = 6;
        some.space = "k.b=[0|2]";
        const TuneResult result = tune(some);
        EXPECT_EQ(result.finding, Finding::faster) << scenario << ": " << result.why;
        EXPECT_NEAR(result.speedup, std::exp(0.10), 0.01) << scenario;
        EXPECT_EQ(Study::read(some.study).header().scenario, scenario);
        some.scenario = Scenario{};
        EXPECT_THROW(tune(some), UserError);
    }
}

TEST_F(TuneTest, HeldOutSamplesMayNotBeTuningSamples) {
    TuneOptions some = options(script(R"(, "effects": {"k.b=2": -0.10})"));
    const std::vector<NamedTensor> inputs{{"x", Tensor::of<float>(Shape{4}, std::vector<float>{1, 2, 3, 4})}};
    write_sample(folder_ + "/data/test_data_set_0", inputs, {});
    some.data = some.heldout = folder_ + "/data";
    EXPECT_THROW(tune(some), UserError);
    EXPECT_FALSE(fs::exists(some.output));
}

// Killed as by kill -9 in the middle of the search, then started again with the same study.
TEST_F(TuneTest, AKilledStudyGoesOnWithoutRepeatingTrials) {
    const TuneOptions some = options(script(R"(, "effects": {"k.b=2": -0.10, "k.a=1": 0.08})"));
    const pid_t child = ::fork();
    if (child == 0) {
        TuneOptions killed = some;
        int calls = 0;
        killed.clock = [&] {
            if (fs::exists(killed.study + "/log.jsonl") && ++calls % 10 == 0 &&
                Study::read(killed.study).trials().size() >= 5)
                ::raise(SIGKILL);
            return 0.01 * calls;
        };
        tune(killed);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    // The machine died while a line was written.
    const std::string log = read_file(some.study + "/log.jsonl");
    write_file_atomically(some.study + "/log.jsonl", log + R"({"event":"tri)");
    const size_t before = study().trials().size();
    EXPECT_GE(before, 5u);

    const TuneResult result = tune(some);
    EXPECT_EQ(result.finding, Finding::faster) << result.why;
    EXPECT_EQ(result.route, "k.b=2");
    const Study after = study();
    EXPECT_EQ(after.sessions(), 2);
    std::set<std::string> routes;
    for (const Trial& trial : after.trials())
        EXPECT_TRUE(routes.insert(trial.route).second) << "twice: " << trial.route;
    EXPECT_GT(after.trials().size(), before);
    EXPECT_LT(result.builds, static_cast<int>(after.trials().size())) << "finished trials are not built again";
}

TEST_F(TuneTest, ADamagedLineInTheMiddleIsAnError) {
    const TuneOptions some = options(script(""));
    tune(some);
    const std::string log = read_file(some.study + "/log.jsonl");
    const size_t second = log.find('\n') + 1;
    write_file_atomically(some.study + "/log.jsonl", log.substr(0, second) + "{rubbish}\n" + log.substr(second));
    EXPECT_THROW(tune(some), UserError);
}

}  // namespace
}  // namespace headway
