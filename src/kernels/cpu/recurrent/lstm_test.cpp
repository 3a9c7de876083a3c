#include "kernels/cpu/recurrent/lstm.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

const Kernel lstm_emulated512{lstm_fields("emulated512", Isa::avx2, emulated512::lstm_ops)};

struct Extents {
    int64_t steps, batch, inputs, hidden;
    std::string direction = "forward";
    bool states = true, constant_states = false, bias = true;
    int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};

struct Data {
    std::vector<float> x, w, r, b, h, c;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The equations of the ONNX operator in double: outputs Y, Y_h, Y_c.
std::vector<std::vector<double>> expected(const Extents& e, const Data& data) {
    const auto at = [](const std::vector<float>& values, int64_t index) {
        return values.empty() ? 0.0 : static_cast<double>(values[static_cast<size_t>(index)]);
    };
    const int64_t d = e.directions(), state = e.batch * e.hidden;
    std::vector<std::vector<double>> out{std::vector<double>(static_cast<size_t>(e.steps * d * state)),
                                         std::vector<double>(static_cast<size_t>(d * state)),
                                         {}};
    out[2] = out[1];
    for (int64_t k = 0; k < d; ++k)
        for (int64_t row = 0; row < e.batch; ++row) {
            std::vector<double> h, c;
            for (int64_t u = 0; u < e.hidden; ++u) {
                h.push_back(at(data.h, (k * e.batch + row) * e.hidden + u));
                c.push_back(at(data.c, (k * e.batch + row) * e.hidden + u));
            }
            for (int64_t step = 0; step < e.steps; ++step) {
                const int64_t time = e.direction == "reverse" || k == 1 ? e.steps - 1 - step : step;
                std::vector<double> gates;
                for (int64_t g = 0; g < 4 * e.hidden; ++g) {
                    double sum = at(data.b, k * 8 * e.hidden + g) + at(data.b, k * 8 * e.hidden + 4 * e.hidden + g);
                    for (int64_t i = 0; i < e.inputs; ++i)
                        sum += at(data.x, (time * e.batch + row) * e.inputs + i) *
                               at(data.w, (k * 4 * e.hidden + g) * e.inputs + i);
                    for (int64_t i = 0; i < e.hidden; ++i)
                        sum += h[static_cast<size_t>(i)] * at(data.r, (k * 4 * e.hidden + g) * e.hidden + i);
                    gates.push_back(sum);
                }
                for (int64_t u = 0; u < e.hidden; ++u) {
                    const auto gate = [&](int64_t which) { return gates[static_cast<size_t>(which * e.hidden + u)]; };
                    double& cell = c[static_cast<size_t>(u)];
                    cell = sigmoid(gate(2)) * cell + sigmoid(gate(0)) * std::tanh(gate(3));
                    h[static_cast<size_t>(u)] = sigmoid(gate(1)) * std::tanh(cell);
                    const int64_t place = (k * e.batch + row) * e.hidden + u;
                    out[0][static_cast<size_t>(time * d * state + place)] = h[static_cast<size_t>(u)];
                    out[1][static_cast<size_t>(place)] = h[static_cast<size_t>(u)];
                    out[2][static_cast<size_t>(place)] = cell;
                }
            }
        }
    return out;
}

testing::KernelCase make_case(const Extents& e, Data& data) {
    const int64_t d = e.directions();
    const auto values = [](int64_t count, uint32_t seed) { return testing::random_floats(count, seed, -0.5F, 0.5F); };
    data.x = values(e.steps * e.batch * e.inputs, 1);
    data.w = values(d * 4 * e.hidden * e.inputs, 2);
    data.r = values(d * 4 * e.hidden * e.hidden, 3);
    testing::KernelCase test;
    test.problem.op = "LSTM";
    test.problem.attributes.set("direction", e.direction);
    test.problem.attributes.set("hidden_size", e.hidden);
    test.add_src(testing::f32({e.steps, e.batch, e.inputs}), data.x);
    test.add_src(testing::f32({d, 4 * e.hidden, e.inputs}), data.w, true);
    test.add_src(testing::f32({d, 4 * e.hidden, e.hidden}), data.r, true);
    if (e.bias)
        test.add_src(testing::f32({d, 8 * e.hidden}), data.b = values(d * 8 * e.hidden, 4), true);
    else
        test.add_absent();
    test.add_absent();
    if (e.states) {
        const Shape state{d, e.batch, e.hidden};
        test.add_src(testing::f32(state), data.h = values(state.elements(), 5), e.constant_states);
        test.add_src(testing::f32(state), data.c = values(state.elements(), 6));
    }
    test.problem.dst = {testing::f32({e.steps, d, e.batch, e.hidden}), testing::f32({d, e.batch, e.hidden}),
                        testing::f32({d, e.batch, e.hidden})};
    return test;
}

void check(const Extents& e) {
    Data data;
    testing::KernelCase test = make_case(e, data);
    const auto want = expected(e, data);
    for (const char* weights : {"f32", "bf16"}) {
        test.choices.set("lstm.weights", weights);
        const double tolerance = std::string(weights) == "bf16" ? 2e-2 : 3e-6 * std::sqrt(static_cast<double>(e.steps));
        for (const Kernel* kernel : testing::kernels_for("LSTM"))
            for (size_t output = 0; output < 3; ++output)
                testing::expect_near(testing::run_kernel<float>(*kernel, test, output), want[output], tolerance,
                                     tolerance,
                                     std::string(kernel->name()) + " " + weights + " output " + std::to_string(output) +
                                         " " + test.problem.text());
    }
}

TEST(Lstm, OneStep) {
    check({1, 1, 128, 128});
    check({1, 1, 7, 5, "forward", false});
    check({1, 4, 24, 17, "forward", true, true});
    check({1, 1, 3, 16, "reverse", true, false, false});
}

TEST(Lstm, ManySteps) {
    check({7, 1, 12, 20});
    check({6, 3, 12, 16, "reverse"});
    check({5, 8, 9, 33, "bidirectional"});
    check({4, 2, 9, 40, "bidirectional", false, false, false});
}

TEST(Lstm, UnusedOutputs) {
    Data data;
    const Extents e{3, 2, 6, 20};
    testing::KernelCase test = make_case(e, data);
    test.problem.dst[0] = TensorDesc{ElementType::undefined, {}, Layout::plain};
    test.problem.dst[2] = TensorDesc{ElementType::undefined, {}, Layout::plain};
    for (const Kernel* kernel : testing::kernels_for("LSTM"))
        testing::expect_near(testing::run_kernel<float>(*kernel, test, 1), expected(e, data)[1], 1e-5, 1e-5,
                             std::string(kernel->name()));
}

TEST(Lstm, Refusals) {
    Data data;
    const testing::KernelCase good = make_case({2, 1, 4, 4}, data);
    const auto reason = [](const Problem& problem) {
        return lstm_emulated512.supports(problem, Target::native(), {}).reason;
    };
    Problem problem = good.problem;
    problem.constant[1] = false;
    EXPECT_EQ(reason(problem), Reason::needs_constant);
    problem = good.problem;
    problem.attributes.set("activations", std::vector<std::string>{"Sigmoid", "Relu", "Tanh"});
    EXPECT_EQ(reason(problem), Reason::attribute);
    problem = good.problem;
    problem.src[2]->shape = {1, 16, 5};
    EXPECT_EQ(reason(problem), Reason::shape);
}

}  // namespace
}  // namespace headway
