// One step of each optimiser; expected values by NumPy from the formulas in the operators' definitions.
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

const std::string training = "ai.onnx.preview.training/";

Tensor rate() { return Tensor::scalar(0.1F); }
Tensor step(int64_t number) { return Tensor::scalar(number); }

TEST(Optimizers, AdagradDividesByAllSquares) {
    const auto y =
        run_op(training + "Adagrad", 1, {rate(), step(2), f32({2}, {1, 2}), f32({2}, {-1, -3}), f32({2}, {2, 1})},
               {{"norm_coefficient", 0.5F}, {"epsilon", 0.25F}, {"decay_factor", 0.5F}}, 2);
    expect_values(y[0], {2}, {1.01428571, 2.04022416});
    expect_values(y[1], {2}, {2.25, 5});
}

TEST(Optimizers, AdamCorrectsItsMomentsButForStepZero) {
    const auto run = [](int64_t number) {
        return run_op(training + "Adam", 1,
                      {rate(), step(number), f32({2}, {1, 2}), f32({2}, {-1, -3}), f32({2}, {2, 4}), f32({2}, {2, 1})},
                      {{"norm_coefficient", 0.5F},
                       {"norm_coefficient_post", 0.25F},
                       {"epsilon", 0.25F},
                       {"alpha", 0.5F},
                       {"beta", 0.75F}},
                      3);
    };
    expect_values(run(0)[0], {2}, {0.7125, 1.45231664});
    const auto y = run(2);
    expect_values(y[0], {2}, {0.71692811, 1.45794723});
    expect_values(y[1], {2}, {0.75, 1});
    expect_values(y[2], {2}, {1.5625, 1.75});
}

TEST(Optimizers, MomentumInBothModes) {
    const auto run = [](int64_t number, const char* mode) {
        return run_op(training + "Momentum", 1,
                      {rate(), step(number), f32({2}, {1, 2}), f32({2}, {-1, -3}), f32({2}, {2, 4})},
                      {{"norm_coefficient", 0.5F}, {"alpha", 0.5F}, {"beta", 0.75F}, {"mode", std::string(mode)}}, 2);
    };
    expect_values(run(0, "standard")[0], {2}, {0.95, 2});
    expect_values(run(0, "standard")[1], {2}, {0.5, 0});
    expect_values(run(3, "standard")[0], {2}, {0.9375, 1.95});
    expect_values(run(3, "nesterov")[0], {2}, {1.01875, 2.175});
    EXPECT_THROW(run(3, "other"), UserError);
}

// Two tensors of different shapes: first both tensors, then both gradients, then both states.
TEST(Optimizers, TakeSeveralTensors) {
    const auto y = run_op(training + "Momentum", 1,
                          {rate(), step(1), f32({1}, {1}), f32({1, 2}, {5, 6}), f32({1}, {10}), f32({1, 2}, {20, 30}),
                           f32({1}, {0}), f32({1, 2}, {0, 0})},
                          {{"alpha", 0.0F}, {"beta", 1.0F}, {"mode", std::string("standard")}}, 4);
    expect_values(y[0], {1}, {0});
    expect_values(y[1], {1, 2}, {3, 3});
    expect_values(y[2], {1}, {10});
    expect_values(y[3], {1, 2}, {20, 30});
}

TEST(Optimizers, RefuseIncompleteSets) {
    const Tensor x = f32({1}, {1});
    EXPECT_THROW(run_op(training + "Adagrad", 1, {rate(), step(1), x, x}, {}, 2), UserError);
    EXPECT_THROW(run_op(training + "Adagrad", 1, {rate(), step(1), x, x, x}, {}, 1), UserError);
    EXPECT_THROW(run_op(training + "Adagrad", 1, {rate(), step(1), x, f32({2}, {1, 2}), x}, {}, 2), UserError);
    EXPECT_THROW(run_op(training + "Adagrad", 1, {rate(), step(1), x, i64({1}), x}, {}, 2), UserError);
    EXPECT_THROW(run_op(training + "Adagrad", 1, {f32({2}, {1, 2}), step(1), x, x, x}, {}, 2), UserError);
}

}  // namespace
}  // namespace headway
