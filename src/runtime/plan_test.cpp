#include "runtime/plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "runtime/testing.h"

namespace headway::testing {
namespace {

std::string refusal(const std::function<void(Plan&)>& change) {
    Plan plan = example(20).plan;
    change(plan);
    try {
        check_plan(plan);
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(CheckPlan, AcceptsAGoodPlan) {
    EXPECT_EQ(refusal([](Plan&) {}), "accepted");
}

TEST(CheckPlan, NamesTheFirstBrokenRule) {
    // buffers: 0 x, 1 y, 2 out, 3 a, 4 b, 5 c (the bytes of a); 20 floats take 80 bytes, slots are 128 apart
    EXPECT_EQ(refusal([](Plan& p) { p.steps[0].src[0] = 4; }),
              "plan: step 0 (test.add#0) reads b before it is written");
    EXPECT_EQ(refusal([](Plan& p) { p.steps[3].src[1] = 3; }),
              "plan: step 3 (test.add#3) reads a after other steps wrote over it");
    EXPECT_EQ(refusal([](Plan& p) { p.steps[2].src[0] = 9; }),
              "plan: step 2 (test.sum_all#2) names a buffer that is not there");
    EXPECT_EQ(refusal([](Plan& p) { p.steps[2].dst[0] = 0; }),
              "plan: step 2 (test.sum_all#2) writes to x, which is read-only");
    EXPECT_EQ(refusal([](Plan& p) { p.steps[1].packed[0] = 1; }),
              "plan: step 1 (test.scale#1) names a constant that is not there");
    EXPECT_EQ(refusal([](Plan& p) { p.steps.pop_back(); }), "plan: output 0 (out) reads out before it is written");
    EXPECT_EQ(refusal([](Plan& p) { p.buffers[4].index = 256; }), "plan: buffer 4 (b) ends beyond the arena");
    EXPECT_EQ(refusal([](Plan& p) { p.buffers[4].index = 130; }),
              "plan: buffer 4 (b) has an arena offset that is not a multiple of its elements");
    EXPECT_EQ(refusal([](Plan& p) { p.buffers[4].index = 64; }),
              "plan: step 1 (test.scale#1) writes over a part of what it reads");
    EXPECT_EQ(refusal([](Plan& p) { p.buffers[0].index = 2; }), "plan: buffer 0 (x) has an index out of range");
    EXPECT_EQ(refusal([](Plan& p) { p.buffers[3].desc.shape = Shape{19}; }),
              "plan: step 0 (test.add#0) does not have the size of buffer a");
    EXPECT_EQ(refusal([](Plan& p) { p.steps[0].src.pop_back(); }),
              "plan: step 0 (test.add#0) has another number of buffers than its problem");
    EXPECT_EQ(refusal([](Plan& p) { p.inputs[0].fixed_value.resize(3); }),
              "plan: input 0 (x) has a fixed value of the wrong size");
    EXPECT_EQ(refusal([](Plan& p) { p.settings.threads = 0; }), "plan: settings threads = 0 is outside 1..1024");
    EXPECT_EQ(refusal([](Plan& p) { p.settings.pool = "tbb"; }), "plan: settings has an unknown value of pool");
    EXPECT_EQ(refusal([](Plan& p) { p.settings.partition = "fair"; }),
              "plan: settings has an unknown value of partition");
    EXPECT_EQ(refusal([](Plan& p) { p.settings.wait = "sleep"; }), "plan: settings has an unknown value of wait");
    EXPECT_EQ(refusal([](Plan& p) {
                  p.steps[0].problem.epilogue.code = {{Opcode::relu, 1, 0, 0, 0, 0}};
              }),
              "plan: step 0 (test.add#0) has a step program with a register or operand out of range");
}

TEST(CheckPlan, FollowsViewsByTheirBytes) {
    // `whole` has no writer of its own: its halves are written, then it is read as one.
    PlanMaker maker(16);
    const int32_t x = maker.input("x"), out = maker.output("out");
    const int32_t low = maker.arena("low", 0), high = maker.arena("high", 64);
    maker.step("test.add", {x, x}, low);
    maker.step("test.add", {x, x}, high);
    maker.plan.arena_bytes = 128;
    const TensorDesc both{ElementType::f32, Shape{32}};
    maker.plan.buffers.push_back({"whole", both, ValueKind::tensor, 0, Place::arena, 0});
    maker.step("test.sum_all", {static_cast<int32_t>(maker.plan.buffers.size()) - 1}, out);
    maker.plan.steps.back().problem.src[0] = both;
    EXPECT_NO_THROW(check_plan(maker.plan));
    maker.plan.steps[1].dst[0] = low;
    EXPECT_THROW(check_plan(maker.plan), UserError);
}

TEST(Fingerprint, TellsWhatAnEngineDoes) {
    const Plan plan = example(20).plan;
    EXPECT_EQ(plan.fingerprint(), example(20).plan.fingerprint());
    const auto changed = [&](const std::function<void(Plan&)>& change) {
        Plan other = plan;
        change(other);
        return std::pair(other.fingerprint() != plan.fingerprint(), other.timing_key() != plan.timing_key());
    };
    const std::pair nothing(false, false), both(true, true), fingerprint_only(true, false);
    EXPECT_EQ(changed([](Plan& p) { p.buffers[3].name = "other"; }), nothing);
    EXPECT_EQ(changed([](Plan& p) { p.steps[0].origins = {"other"}; }), nothing);
    EXPECT_EQ(changed([](Plan& p) { p.inputs[0].name = "other"; }), nothing);
    EXPECT_EQ(changed([](Plan& p) {
                  // the same plan with its buffers in another order
                  std::swap(p.buffers[3], p.buffers[4]);
                  for (Step& step : p.steps)
                      for (auto* ids : {&step.src, &step.dst})
                          for (int32_t& id : *ids) id = id == 3 ? 4 : id == 4 ? 3 : id;
              }),
              nothing);
    EXPECT_EQ(changed([](Plan& p) { p.constants[0].hash = hash_text("other"); }), fingerprint_only);
    EXPECT_EQ(changed([](Plan& p) { p.steps[0].kernel = "test.other"; }), both);
    EXPECT_EQ(changed([](Plan& p) { p.steps[0].max_threads = 1; }), both);
    EXPECT_EQ(changed([](Plan& p) { p.steps[0].choices.set("some.knob", "3"); }), both);
    EXPECT_EQ(changed([](Plan& p) { p.steps[0].problem.attributes.set("alpha", 0.5F); }), both);
    EXPECT_EQ(changed([](Plan& p) { p.steps[0].problem.epilogue.code = {{Opcode::relu, 0, 0, 0, 0, 0}}; }), both);
    EXPECT_EQ(changed([](Plan& p) { std::swap(p.steps[3].src[0], p.steps[3].src[1]); }), both);
    EXPECT_EQ(changed([](Plan& p) { p.settings.spin_us = 7; }), both);
    EXPECT_EQ(changed([](Plan& p) { p.buffers[4].index += 64; }), both);
}

}  // namespace
}  // namespace headway::testing
