// The knobs of ONNX Runtime form a space for every ceiling of threads.
#include "workers/onnxruntime/knobs.h"

#include <gtest/gtest.h>

#include <set>

#include "workers/described_knobs.h"

namespace headway::ort {
namespace {

TEST(OnnxRuntimeKnobs, ThreadsStartAtTheCeilingAndReachOne) {
    for (const int ceiling : {1, 2, 16, 17, 48, 1024}) {
        const std::vector<KnobDescription> described = describe_knobs(ceiling, {});
        const DescribedKnobs knobs(described);
        const KnobBase* intra = knobs.registry().find("thread.intra");
        ASSERT_NE(intra, nullptr);
        EXPECT_EQ(intra->values().front(), std::to_string(ceiling));
        EXPECT_EQ(intra->values().back(), "1");
        EXPECT_LE(intra->values().size(), 24u);
    }
}

TEST(OnnxRuntimeKnobs, HaveDistinctValuesAndSayWhatTheyAre) {
    const std::vector<std::string> variants{"a.onnx", "b.onnx"};
    for (const KnobDescription& knob : describe_knobs(24, variants)) {
        EXPECT_EQ(std::set<std::string>(knob.values.begin(), knob.values.end()).size(), knob.values.size())
            << knob.name;
        EXPECT_FALSE(knob.help.empty()) << knob.name;
        EXPECT_TRUE(knob.numerics == "exact" || knob.numerics == "reorders" || knob.numerics == "approximates" ||
                    knob.numerics == "reduced")
            << knob.name;
    }
}

}  // namespace
}  // namespace headway::ort
