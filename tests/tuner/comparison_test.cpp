// Effects of knobs from the logs of studies, and several studies beside each other.
#include "tuner/comparison.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tuner/knob_effects.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// Writes the log of a study whose engines are named after their routes; the default's is "default".
class Written {
public:
    explicit Written(const std::string& folder) : folder_(folder), study_(folder) {
        StudyHeader header;
        header.model_hash = "model of " + folder;
        header.target = "a machine";
        header.builders = {"fake 1"};
        header.threads = 2;
        study_.check_header(header);
        study_.record_knobs("fake", {{"k.a", "", "kernel", {"0", "1"}, "exact", "graph"},
                                     {"k.b", "", "kernel", {"0", "1", "2"}, "exact", "graph"},
                                     {"k.c", "", "kernel", {"0", "1"}, "exact", "graph"}});
        add("", {});
        for (const double noise : {0.004, -0.004, 0.004, -0.004, 0.004, -0.004})
            visit(Purpose::control, "clone", noise);
    }

    // A route whose engine passes the gate, with the log speed-ups of its selection visits.
    void add(const std::string& route, const std::vector<double>& log_speedups, std::string fingerprint = "") {
        if (fingerprint.empty()) fingerprint = route.empty() ? "default" : route;
        const bool known = study_.find(fingerprint) != nullptr;
        trial(route, known ? Outcome::duplicate : Outcome::built, fingerprint);
        if (!known) study_.record_gate(fingerprint, Outcome::built, 0.5, "", "{}");
        for (const double value : log_speedups) visit(Purpose::screen, fingerprint, value);
    }

    void refuse(const std::string& route) { trial(route, Outcome::refused, ""); }

    // A claim for this route.
    void finish(const std::string& route, double speedup) {
        study_.record_result(nlohmann::json{
            {"verdict", "FASTER"},
            {"builder", "fake"},
            {"route", route},
            {"speedup", speedup},
            {"low", speedup - 0.01},
            {"high",
             speedup + 0.01}}.dump());
    }

    Study read() const { return Study::read(folder_); }

private:
    void trial(const std::string& route, Outcome outcome, const std::string& fingerprint) {
        Trial trial;
        trial.id = static_cast<int>(study_.trials().size());
        trial.builder = "fake";
        trial.route = route;
        trial.outcome = outcome;
        trial.fingerprint = fingerprint;
        study_.finish_trial(trial, fingerprint, 1);
    }

    void visit(Purpose purpose, const std::string& engine, double value) {
        VisitRecord visit;
        visit.purpose = purpose;
        visit.engines = {"default", engine};
        visit.values = {value};
        study_.record_visit(visit);
    }

    std::string folder_;
    Study study_;
};

class ComparisonTest : public testing::Test {
protected:
    void SetUp() override { fs::remove_all(folder_); }
    void TearDown() override { fs::remove_all(folder_); }

    static std::vector<Study> both(const Written& one, const Written& two) {
        std::vector<Study> studies;
        studies.push_back(one.read());
        studies.push_back(two.read());
        return studies;
    }

    static KnobEffect effect(const Study& study, const std::string& setting) {
        for (const KnobEffect& effect : knob_effects(study).effects)
            if (effect.knob + "=" + effect.value == setting) return effect;
        ADD_FAILURE() << "no effect of " << setting;
        return {};
    }

    std::string folder_ = testing::TempDir() + "headway-comparison-test-" + std::to_string(::getpid());
};

TEST_F(ComparisonTest, AnEffectIsTheRouteAgainstTheSameRouteWithoutTheSetting) {
    Written written(folder_ + "/one");
    written.add("k.a=1", {-0.300, -0.304});
    written.add("k.a=1,k.b=2", {-0.200, -0.204});
    written.add("k.b=2", {0.098, 0.102});
    const KnobEffect b = effect(written.read(), "k.b=2");
    EXPECT_EQ(b.state, EffectState::wins);
    EXPECT_EQ(b.pairs, 2);
    EXPECT_NEAR(b.speedup.center, std::exp(0.1), 0.001);
    EXPECT_LT(b.speedup.low, b.speedup.center);
    EXPECT_EQ(effect(written.read(), "k.a=1").state, EffectState::loses);
    EXPECT_EQ(effect(written.read(), "k.b=1").state, EffectState::untried);
}

TEST_F(ComparisonTest, EveryStateIsToldApart) {
    Written written(folder_ + "/one");
    written.add("k.a=1", {0.003});  // less than the visits scatter by
    written.refuse("k.b=1");
    written.add("k.c=1", {}, "default");  // changes nothing
    written.add("k.b=2", {});             // built, never measured
    const Study study = written.read();
    EXPECT_EQ(effect(study, "k.a=1").state, EffectState::unclear);
    EXPECT_EQ(effect(study, "k.b=1").state, EffectState::failed);
    EXPECT_EQ(effect(study, "k.b=1").outcome, "refused");
    EXPECT_EQ(effect(study, "k.c=1").state, EffectState::inert);
    EXPECT_EQ(effect(study, "k.b=2").state, EffectState::unmeasured);
}

// One visit of 1.2 % at a noise of 0.5 %: outside its own 95 % interval, but so many effects were looked at.
TEST_F(ComparisonTest, EffectsOfAStudyShareTheErrorLevel) {
    Written written(folder_ + "/one");
    written.add("k.a=1", {0.013});
    EXPECT_EQ(effect(written.read(), "k.a=1").state, EffectState::wins);
    written.add("k.b=1", {0.0});
    written.add("k.b=2", {0.0});
    written.add("k.c=1", {0.0});
    const KnobEffect a = effect(written.read(), "k.a=1");
    EXPECT_EQ(a.state, EffectState::unclear);
    EXPECT_GT(a.speedup.low, 1);
}

TEST_F(ComparisonTest, OppositeEffectsAreListed) {
    Written one(folder_ + "/one"), two(folder_ + "/two");
    one.add("k.b=2", {0.098, 0.102});
    one.add("k.a=1", {0.05, 0.05});
    two.add("k.b=2", {-0.098, -0.102});
    two.add("k.a=1", {0.05, 0.05});
    const std::vector<Study> studies = both(one, two);
    const auto json = nlohmann::json::parse(comparison_json(studies));
    ASSERT_EQ(json.at("opposite").size(), 1u);
    EXPECT_EQ(json.at("opposite")[0].at("knob"), "k.b");
    EXPECT_EQ(json.at("opposite")[0].at("value"), "2");
    EXPECT_EQ(json.at("opposite")[0].at("wins"), nlohmann::json({"one"}));
    EXPECT_EQ(json.at("opposite")[0].at("loses"), nlohmann::json({"two"}));
    const std::string text = comparison_markdown(studies);
    EXPECT_NE(text.find("- `k.b=2 (default 0)`\n  - wins on one: 1.105x ["), std::string::npos) << text;
    EXPECT_NE(text.find("  - loses on two: 0.905x ["), std::string::npos) << text;
    EXPECT_NE(text.find("| k.a=1 (default 0) | **wins** 1.051x"), std::string::npos) << text;
    EXPECT_NE(text.find("biased"), std::string::npos);
    EXPECT_EQ(text.find("] claimed"), std::string::npos) << "no study confirmed anything";
}

TEST_F(ComparisonTest, OnlyASettingThatIsTheWholeWinnerIsClaimed) {
    Written one(folder_ + "/one"), two(folder_ + "/two");
    one.add("k.a=1", {0.06, 0.06});
    one.finish("k.a=1", 1.05);
    two.add("k.a=1", {0.06, 0.06});
    two.add("k.a=1,k.b=2", {0.12, 0.12});
    two.finish("k.a=1,k.b=2", 1.1);
    EXPECT_TRUE(effect(one.read(), "k.a=1").claimed);
    EXPECT_EQ(effect(one.read(), "k.a=1").speedup.center, 1.05);
    EXPECT_FALSE(effect(two.read(), "k.a=1").claimed);
    EXPECT_TRUE(effect(two.read(), "k.a=1").in_winner);
}

TEST_F(ComparisonTest, LabelsTellTheStudiesApart) {
    Written one(folder_ + "/a/study"), two(folder_ + "/b/study");
    const std::vector<Study> studies = both(one, two);
    const auto json = nlohmann::json::parse(comparison_json(studies));
    EXPECT_EQ(json.at("studies")[0].at("study"), "a/study");
    EXPECT_EQ(json.at("studies")[1].at("study"), "b/study");
}

}  // namespace
}  // namespace headway
