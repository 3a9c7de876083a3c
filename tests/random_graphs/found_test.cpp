// Graphs that were found to fail once, by random_graphs or by hand: each file of tests/random_graphs/found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "trial.h"

namespace headway::testing {
namespace {

std::vector<std::string> found_files() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(HEADWAY_FOUND_GRAPHS)) paths.push_back(entry.path());
    std::ranges::sort(paths);
    return paths;
}

class Found : public ::testing::TestWithParam<std::string> {};

TEST_P(Found, FailsNoMore) {
    static const Catalogue catalogue;
    const Trial trial = parse_trial(read_file(GetParam()));
    EXPECT_EQ(failure_of(trial, catalogue), "");
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
    std::string name = std::filesystem::path(info.param).stem();
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Found, ::testing::ValuesIn(found_files()), test_name);

}  // namespace
}  // namespace headway::testing
