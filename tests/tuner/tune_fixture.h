// A folder with a scripted model, and `tune` on it: times come from the fake's virtual clock, the length of a session
// from a number of trials, so nothing depends on how fast the machine is.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "tuner/study.h"
#include "tuner/tune.h"

namespace headway {

namespace fs = std::filesystem;

class TuneTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "headway-tune-test-" + std::to_string(::getpid());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    TuneOptions options(const std::string& script) {
        write_file_atomically(folder_ + "/model.json", script);
        TuneOptions options;
        options.model.model = folder_ + "/model.json";
        options.budget_s = 1000;
        options.most_trials = 20;
        options.study = folder_ + "/study";
        options.output = folder_ + "/out.hwe";
        options.worker_command = {FAKE_WORKER};
        options.guards = false;
        options.clock = [this] { return clock_s_ += 0.01; };
        options.gate = make_gate({});
        return options;
    }

    Study study() { return Study::read(folder_ + "/study"); }

    // The trial of a route.
    Trial trial(const std::string& route) {
        const Study study = this->study();
        for (const Trial& trial : study.trials())
            if (trial.route == route) return trial;
        ADD_FAILURE() << "no trial of " << route;
        return {};
    }

    std::string folder_;
    double clock_s_ = 0;
};

inline constexpr const char* three_knobs = R"("noise": 0.004, "knobs": [{"name": "k.a", "values": ["0", "1"]},
    {"name": "k.b", "values": ["0", "1", "2"]}, {"name": "k.c", "values": ["0", "1"]}])";

inline std::string script(const std::string& more) { return std::string("{") + three_knobs + more + "}"; }

}  // namespace headway
