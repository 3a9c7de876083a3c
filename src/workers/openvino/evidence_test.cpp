// What is in an engine's timing key and what is not.
#include "workers/openvino/evidence.h"

#include <gtest/gtest.h>

namespace headway::openvino {
namespace {

Evidence sound() {
    return {"2026.4.1",
            {{"x", "f32", {1, 3}}},
            {{"x", "Parameter", "unknown_f32", 0},
             {"conv_7", "Convolution", "brgconv_avx512_f32", 40},
             {"Transpose_4711", "Transpose", "jit_avx512_f32", 2},
             {"Transpose_4711_abcd_acdb", "Reorder", "jit_uni_f32", 1}},
            {{"NUM_STREAMS", "1"}}};
}

TEST(Evidence, TimesAndCountersOfTheProcessDoNotMatter) {
    Evidence again = sound();
    again.nodes[1].ns = 55;
    again.nodes[2].name = "Transpose_815";
    again.nodes[3].name = "Transpose_815_abcd_acdb";
    EXPECT_EQ(timing_key(again), timing_key(sound()));
}

TEST(Evidence, EverythingElseMatters) {
    const auto changed = [](auto change) {
        Evidence evidence = sound();
        change(evidence);
        return timing_key(evidence) != timing_key(sound());
    };
    EXPECT_TRUE(changed([](Evidence& e) { e.version = "2026.4.2"; }));
    EXPECT_TRUE(changed([](Evidence& e) { e.inputs[0].dims = {3, 1}; }));
    EXPECT_TRUE(changed([](Evidence& e) { e.inputs[0].type = "f16"; }));
    EXPECT_TRUE(changed([](Evidence& e) { e.nodes[1].exec_type = "brgconv_avx512_bf16"; }));
    EXPECT_TRUE(changed([](Evidence& e) { e.nodes[1].type = "GroupConvolution"; }));
    EXPECT_TRUE(changed([](Evidence& e) { e.nodes[3].name = "Transpose_4712_abcd_acdb"; }));  // another node's
    EXPECT_TRUE(changed([](Evidence& e) { e.nodes[3].name = "Transpose_4711_acdb_abcd"; }));
    EXPECT_TRUE(changed([](Evidence& e) { std::swap(e.nodes[1], e.nodes[2]); }));
    EXPECT_TRUE(changed([](Evidence& e) { e.nodes.pop_back(); }));
    EXPECT_TRUE(changed([](Evidence& e) { e.settings["NUM_STREAMS"] = "2"; }));
}

}  // namespace
}  // namespace headway::openvino
