// Engine files of earlier releases must load and give the same results. tests/data has one per version.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "base/file.h"
#include "runtime/engine_file.h"
#include "sample.h"
#include "staged/staged_engine.h"

namespace headway::testing {
namespace {

const std::string data_folder = HEADWAY_TEST_DATA;

class FrozenEngine : public ::testing::TestWithParam<int> {
protected:
    std::string path() const { return data_folder + "/engine_v" + std::to_string(GetParam()) + ".hwe"; }
};

TEST_P(FrozenEngine, LoadsAndRuns) {
    Context context(Engine::load(path(), declared<Kernel>()));
    const auto row = [](std::vector<float> values) { return Tensor::of<float>(Shape{1, 4}, values); };
    const Tensor out = context.run(std::vector<Tensor>{row({1, 2, 3, 4}), row({10, 20, 30, 40})})[0];
    EXPECT_TRUE(std::ranges::equal(out.data<float>(), std::vector<float>{22, 66, 132, 220}));
    EXPECT_EQ(context.engine().info().certificate, "{\"pass\":true}");
}

INSTANTIATE_TEST_SUITE_P(Versions, FrozenEngine, ::testing::Values(1));

TEST(FrozenStagedEngine, LoadsAndRuns) {
    const Catalogue catalogue;
    const auto engine = StagedEngine::load(data_folder + "/engine_v2.hwe", catalogue);
    const Tensor x = Tensor::of<float>(Shape{2, 2}, std::vector<float>{-2, 1, 5, -3});
    const std::vector<Tensor> out = tensors_of(engine->run(std::vector<Datum>{x}));
    EXPECT_TRUE(std::ranges::equal(out[0].data<float>(), std::vector<float>{0, 4, 7, 0}));
    EXPECT_TRUE(std::ranges::equal(out[1].data<int64_t>(), std::vector<int64_t>{0, 1, 1, 0}));
    EXPECT_EQ(engine->info().certificate, "{\"pass\":true}");
}

// When this fails the format has changed: raise engine_file_version, keep reading the old one, add a sample.
TEST(EngineFileVersion, WritesTheFrozenBytes) {
    const std::string fresh = ::testing::TempDir() + "/sample_" + std::to_string(::getpid()) + ".hwe";
    write_engine_file(fresh, sample_plan(), sample_info());
    const std::string bytes = read_file(fresh);
    std::filesystem::remove(fresh);
    EXPECT_EQ(bytes, read_file(data_folder + "/engine_v" + std::to_string(engine_file_version) + ".hwe"));
}

}  // namespace
}  // namespace headway::testing
