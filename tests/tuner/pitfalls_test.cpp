// Ways in which a tuner fools itself, each planted (docs/design/0009-pitfalls.md lists them all). Virtual times, as in
// tune_test.cpp.
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/samples.h"
#include "tuner/replay.h"
#include "tuner/report.h"
#include "tune_fixture.h"

namespace headway {
namespace {

class PitfallTest : public TuneTest {
protected:
    // Runs tune in a process that is killed (kill -9) as soon as its study is as described.
    void run_until(const TuneOptions& options, const std::function<bool(const Study&)>& reached) {
        const pid_t child = ::fork();
        if (child == 0) {
            TuneOptions killed = options;
            int calls = 0;
            killed.clock = [&] {
                if (++calls % 4 == 0 && fs::exists(killed.study + "/log.jsonl") && reached(Study::read(killed.study)))
                    ::raise(SIGKILL);
                return 0.01 * calls;
            };
            tune(killed);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the study never came there";
    }

    void forge(const nlohmann::json& event) {
        const std::string path = folder_ + "/study/log.jsonl";
        write_file_atomically(path, read_file(path) + event.dump() + "\n");
    }

    void write_data(const std::vector<std::vector<float>>& samples) {
        for (size_t i = 0; i < samples.size(); ++i) {
            const Shape shape{static_cast<int64_t>(samples[i].size())};
            const std::vector<NamedTensor> inputs{{"x", Tensor::of<float>(shape, samples[i])}};
            write_sample(folder_ + "/data/test_data_set_" + std::to_string(i), inputs, {});
        }
    }
};

constexpr const char* gain = R"(, "effects": {"k.b=2": -0.10})";
constexpr const char* no_gain = R"(, "effects": {"k.a=1": 0.05, "k.b=1": 0.06, "k.b=2": 0.08, "k.c=1": 0.07})";

// 8: a build that is still running while engines are timed. One that ran out of time is dead before its trial ends.
TEST_F(PitfallTest, ABuildThatTimedOutIsDead) {
    write_file_atomically(folder_ + "/model.json",
                          R"({"knobs":[{"name":"k","values":["0","1"]}],"faults":{"k=1":"hang"}})");
    WorkerOptions worker;
    worker.command = {FAKE_WORKER};
    worker.scratch = folder_;
    constexpr double patience_s = 20;
    WorkerClient client(worker, patience_s);
    OpenRequest request;
    request.model = folder_ + "/model.json";
    client.open(request, patience_s);
    const pid_t pid = client.pid();
    ASSERT_EQ(::kill(pid, 0), 0);
    EXPECT_THROW(client.build("k=1", folder_ + "/e.hwe", "", 0.05), WorkerError);
    EXPECT_NE(::kill(pid, 0), 0);
    EXPECT_EQ(errno, ESRCH);
}

// 3 and 11: a gain read off the race; a guard that is not there. The report says so.
TEST_F(PitfallTest, TheReportSaysWhatIsBiasedAndWhatIsMissing) {
    tune(options(script(gain)));
    const std::string text = report_markdown(study());
    EXPECT_NE(text.find("Selection estimates, biased"), std::string::npos);
    EXPECT_NE(text.find("guards that this machine lacks: "), std::string::npos);
    const auto report = nlohmann::json::parse(report_json(study()));
    ASSERT_FALSE(report.at("engines").empty());
    for (const auto& engine : report.at("engines"))
        for (const auto& [field, value] : engine.items())
            EXPECT_EQ(field.find("estimate") != std::string::npos, field.find("biased") != std::string::npos) << field;
    EXPECT_FALSE(report.at("result").at("evidence").at("estimate_is_biased"));
}

// 14: zeros are faster than data, so no claim rests on them.
TEST_F(PitfallTest, InputsOfZerosSupportNoClaim) {
    for (const bool zeros : {true, false}) {
        TuneOptions some = options(R"({"elements": 100,)" + script(gain).substr(1));
        std::vector<float> values(100, 0.0F);
        for (size_t i = 0; i < values.size() && !zeros; ++i) values[i] = 1.0F / static_cast<float>(3 + i);
        fs::remove_all(folder_ + "/study");
        write_data({values});
        some.data = folder_ + "/data";
        const TuneResult result = tune(some);
        EXPECT_EQ(result.finding, zeros ? Finding::unfit : Finding::faster) << result.why;
        EXPECT_EQ(result.why.find("inputs: input x") == 0, zeros) << result.why;
        EXPECT_TRUE(fs::exists(result.engine));
    }
}

// 15: an engine that returns what it computed before, whatever its inputs.
TEST_F(PitfallTest, CachedOutputsFailTheGate) {
    tune(options(script(R"(, "effects": {"k.a=1": -0.5}, "faults": {"k.a=1": "cached"})")));
    EXPECT_EQ(trial("k.a=1").outcome, Outcome::wrong);
}

// 16: engines that differ by 1 %, on a clock that steps by an eighth of a block.
TEST_F(PitfallTest, ACoarseClockIsNotAnEqualEngine) {
    const TuneResult result = tune(options(R"({"base_ns": 10000000, "clock_step_ns": 2500000,)" +
                                           script(R"(, "effects": {"k.b=2": -0.01})").substr(1)));
    EXPECT_EQ(result.finding, Finding::no_gain);
    EXPECT_EQ(result.why.find("clock"), 0u) << result.why;
}

// 19: the build that passed the gate was lucky. When its file is gone and the route gives another engine, that one does
// not inherit the verdict of the first.
TEST_F(PitfallTest, AnotherBuildOfTheRouteIsAnotherEngine) {
    TuneOptions some = options(script(R"(, "effects": {"k.a=1": -0.5}, "faults": {"k.a=1": "two_engines"})"));
    some.space = "k.a=[0|1]";
    run_until(some, [](const Study& study) {
        return !study.visits().empty() && study.visits().back().purpose == Purpose::screen;
    });
    const std::string lucky = trial("k.a=1").fingerprint;
    fs::remove(study().engine_path(lucky));
    for (int builds = 0; builds < 2; ++builds) {
        const TuneResult result = tune(some);
        const Study after = study();
        const std::string claimed =
            nlohmann::json::parse(report_json(after)).at("result").at("evidence").at("fingerprint");
        EXPECT_EQ(claimed == lucky, result.finding == Finding::faster);
        EXPECT_TRUE(after.find(claimed)->passed);
        EXPECT_EQ(nlohmann::json::parse(read_file(result.engine)).at("fingerprint"), claimed);
        EXPECT_EQ(result.finding, builds == 0 ? Finding::no_gain : Finding::faster) << result.why;
        for (const auto& [fingerprint, engine] : after.engines()) EXPECT_TRUE(engine.passed) << "nothing ungated";
    }
}

// 21: equal fingerprints of a builder that does not repeat itself are no sign that a knob changes nothing.
TEST_F(PitfallTest, ABuilderThatDoesNotRepeatItselfIsFoundOut) {
    for (const bool repeats : {true, false}) {
        fs::remove_all(folder_ + "/study");
        const std::string fault = repeats ? "" : R"(, "faults": {"k.c=0": "two_engines", "k.c=1": "two_engines"})";
        tune(options(script(R"(, "inert": ["k.a", "k.b", "k.c"])" + fault)));
        const Study study = this->study();
        const bool noted = std::any_of(study.notes().begin(), study.notes().end(), [](const std::string& note) {
            return note.find("two engines for one route") != std::string::npos;
        });
        EXPECT_EQ(noted, !repeats);
        // all 12 routes, where a builder that repeats itself has shown early that nothing matters
        EXPECT_EQ(study.trials().size() == 12, !repeats) << study.trials().size();
    }
}

// 23: visits of another day say 5 % faster. They may choose whom to look at; the claim is measured now.
TEST_F(PitfallTest, TimingsOfAnotherDaySupportNoClaim) {
    const TuneOptions some = options(script(no_gain));
    tune(some);
    const Study before = study();
    const std::string wrongly_praised = trial("k.a=1").fingerprint;
    constexpr int forged = 60;
    const std::string reference = before.visits().front().engines.front();
    for (int i = 0; i < forged; ++i)
        forge({{"event", "visit"},
               {"purpose", "screen"},
               {"engines", {reference, wrongly_praised}},
               {"values", {0.05}},
               {"rounds", {{105, 100}}},
               {"iterations", 1},
               {"drops", {""}}});
    const TuneResult result = tune(some);
    EXPECT_EQ(result.finding, Finding::no_gain) << result.why;
    int fresh = 0;
    const Study after = study();
    for (size_t i = before.visits().size() + forged; i < after.visits().size(); ++i)
        fresh += after.visits()[i].purpose == Purpose::confirm && after.visits()[i].engines.back() == wrongly_praised;
    EXPECT_EQ(fresh, 8) << "tested on fresh visits, as far as the first look";
}

// 25: killed in any phase, the study comes to the same verdict.
TEST_F(PitfallTest, KilledInAnyPhaseTheVerdictIsTheSame) {
    const TuneOptions some = options(script(R"(, "effects": {"k.b=2": -0.10}, "inert": ["k.a", "k.c"])"));
    const auto visited = [](Purpose purpose) {
        return [purpose](const Study& study) {
            return !study.visits().empty() && study.visits().back().purpose == purpose;
        };
    };
    const std::vector<std::function<bool(const Study&)>> phases{
        visited(Purpose::control), visited(Purpose::screen),
        visited(Purpose::race),    visited(Purpose::confirm),
        visited(Purpose::report),  [](const Study& study) { return study.heldout_attempts() > 0; }};
    for (size_t phase = 0; phase < phases.size(); ++phase) {
        fs::remove_all(some.study);
        run_until(some, phases[phase]);
        EXPECT_FALSE(fs::exists(some.output)) << phase;
        const TuneResult result = tune(some);
        EXPECT_EQ(result.finding, Finding::faster) << phase << ": " << result.why;
        EXPECT_EQ(result.route, "k.b=2") << phase;
        EXPECT_TRUE(replay(study()).contradictions.empty()) << phase;
        fs::remove(some.output);
    }
}

// 26: an engine that crashes in the second round of a heat. The others of the heat are innocent.
TEST_F(PitfallTest, ACrashInAHeatCostsOneEngine) {
    const TuneResult result =
        tune(options(script(R"(, "effects": {"k.b=2": -0.10, "k.a=1": -0.3}, "faults": {"k.a=1": "crash_later"})")));
    EXPECT_EQ(trial("k.a=1").outcome, Outcome::crashed);
    EXPECT_NE(trial("k.a=1").reason.find("while measured"), std::string::npos) << trial("k.a=1").reason;
    EXPECT_EQ(result.route, "k.b=2") << result.why;
    const Study study = this->study();
    for (const VisitRecord& visit : study.visits())
        EXPECT_EQ(std::count(visit.engines.begin(), visit.engines.end(), trial("k.a=1").fingerprint), 0);
}

// 27 and 30: another number of threads or another scenario is another study; the report says which it was.
TEST_F(PitfallTest, AnotherRegimeIsAnotherStudy) {
    TuneOptions some = options(script(gain));
    some.model.threads = 1;
    tune(some);
    const auto report = nlohmann::json::parse(report_json(study()));
    EXPECT_EQ(report.at("threads"), 1);
    EXPECT_EQ(report.at("scenario"), "latency");
    EXPECT_EQ(report.at("target"), "fake");
    const auto refusal = [&](const TuneOptions& other) -> std::string {
        try {
            tune(other);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    TuneOptions threads = some, streams = some;
    threads.model.threads = 2;
    EXPECT_NE(refusal(threads).find("threads"), std::string::npos) << refusal(threads);
    streams.scenario = Scenario::parse("streams:2");
    EXPECT_NE(refusal(streams).find("scenario"), std::string::npos) << refusal(streams);
}

// 28: "no gain shown" must not read as "no gain".
TEST_F(PitfallTest, NoGainComesWithAResolution) {
    for (const char* effects : {no_gain, R"(, "effects": {"k.b=2": -0.004})"}) {
        fs::remove_all(folder_ + "/study");
        const TuneResult result = tune(options(script(effects)));
        EXPECT_EQ(result.finding, Finding::no_gain);
        EXPECT_NE(result.why.find("resolution"), std::string::npos) << result.why;
        EXPECT_NE(report_markdown(study()).find("resolution: gains under"), std::string::npos);
        const auto line = nlohmann::json::parse(report_json(study()));
        EXPECT_GT(line.at("result").at("evidence").at("resolution").get<double>(), 0);
    }
    fs::remove_all(folder_ + "/study");
    TuneOptions stopped = options(script(gain));
    std::atomic<bool> stop = true;
    stopped.stop = &stop;
    EXPECT_EQ(tune(stopped).finding, Finding::no_gain);
    EXPECT_NE(report_markdown(study()).find("resolution: none, no engine was tested"), std::string::npos);
}

// 29: ties broken by noise. Two values gain the same: whichever wins, the other one is among the finalists.
TEST_F(PitfallTest, OfTiedEnginesTheOtherOneIsNamed) {
    for (const uint64_t seed : {1, 2, 3}) {
        fs::remove_all(folder_ + "/study");
        TuneOptions some = options(script(R"(, "effects": {"k.b=1": -0.1, "k.b=2": -0.1}, "inert": ["k.a", "k.c"])"));
        some.seed = seed;
        const TuneResult result = tune(some);
        EXPECT_EQ(result.finding, Finding::faster) << result.why;
        EXPECT_TRUE(result.route == "k.b=1" || result.route == "k.b=2") << result.route;
        const auto evidence = nlohmann::json::parse(report_json(study())).at("result").at("evidence");
        for (const char* route : {"k.b=1", "k.b=2"})
            EXPECT_NE(evidence.at("finalists").dump().find(trial(route).fingerprint), std::string::npos) << route;
    }
}

}  // namespace
}  // namespace headway
