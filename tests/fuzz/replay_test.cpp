// Every kept input through its target, without a fuzzer: what was once a finding (found/) stays fixed, and the corpus
// (corpus/) keeps being read. A crash ends the run; the last line printed names the input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "target.h"

namespace headway::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> inputs_of(const std::string& name) {
    std::vector<std::string> paths;
    for (const char* kind : {"found", "corpus"}) {
        const fs::path folder = fs::path(HEADWAY_FUZZ_INPUTS) / kind / name;
        if (!fs::is_directory(folder)) continue;
        for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

class Replay : public testing::TestWithParam<std::string> {};

TEST_P(Replay, KeptInputsAreReadOrRefused) {
    static const Registry<Target> targets = declared<Target>();
    const std::vector<std::string> paths = inputs_of(GetParam());
    EXPECT_FALSE(paths.empty()) << "no inputs are kept";
    for (const std::string& path : paths) {
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);
        EXPECT_NO_THROW(targets.find(GetParam())->run(read_file(path))) << path;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(declared<Target>().names()),
                         [](const auto& info) { return info.param; });

// The other way round: no folder without a target.
TEST(Replay, EveryFolderHasATarget) {
    static const Registry<Target> targets = declared<Target>();
    for (const char* kind : {"found", "corpus"})
        for (const auto& entry : fs::directory_iterator(fs::path(HEADWAY_FUZZ_INPUTS) / kind))
            EXPECT_NE(targets.find(entry.path().filename().string()), nullptr) << entry.path();
}

}  // namespace
}  // namespace headway::fuzz
