// DynamicQuantizeLSTM against its formulas in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

struct Case {
    int64_t steps, batch, inputs, hidden;
    const char* direction = "forward";
    ElementType type = ElementType::i8;
    bool per_column = false, has_bias = true, has_states = false;

    int64_t directions() const { return std::string_view(direction) == "bidirectional" ? 2 : 1; }
};

struct Matrix {
    std::vector<uint8_t> values, zero;  // directions x inputs x gates
    std::vector<float> scale;
    std::vector<double> real;
};

Matrix random_matrix(const Case& c, int64_t inputs, uint32_t seed) {
    const int64_t rows = 4 * c.hidden;
    std::mt19937 generator(seed);
    Matrix m;
    for (int64_t i = 0; i < c.directions() * (c.per_column ? rows : 1); ++i) {
        m.scale.push_back(0.002F + 0.001F * static_cast<float>(i % 3));
        m.zero.push_back(static_cast<uint8_t>((c.type == ElementType::u8 ? 128 : 0) + i % 4));
    }
    for (int64_t i = 0; i < c.directions() * inputs * rows; ++i) {
        m.values.push_back(static_cast<uint8_t>(generator() >> 8));
        const int64_t direction = i / (inputs * rows);
        const auto k = static_cast<size_t>(c.per_column ? direction * rows + i % rows : direction);
        const auto number = [&](uint8_t bits) -> double {
            return c.type == ElementType::i8 ? static_cast<int8_t>(bits) : bits;
        };
        m.real.push_back((number(m.values.back()) - number(m.zero[k])) * m.scale[k]);
    }
    return m;
}

// What is left of values that are quantised to u8 by their range.
std::vector<double> rounded(std::vector<double> values) {
    double low = 0, high = 0;
    for (double value : values) low = std::min(low, value), high = std::max(high, value);
    const float scale = static_cast<float>(high - low) / 255;
    const double divisor = scale == 0 ? 1 : scale;
    const auto steps = [&](double value) -> double { return std::nearbyint(static_cast<float>(value / divisor)); };
    const double zero = std::clamp(steps(-low), 0.0, 255.0);
    for (double& value : values) value = (std::clamp(steps(value) + zero, 0.0, 255.0) - zero) * scale;
    return values;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void check(const Case& c) {
    const int64_t d = c.directions(), h = c.hidden, rows = 4 * h;
    const auto x = testing::random_floats(c.steps * c.batch * c.inputs, 1);
    const Matrix w = random_matrix(c, c.inputs, 2), r = random_matrix(c, h, 3);
    const auto bias = testing::random_floats(d * 2 * rows, 4, -0.5F, 0.5F);
    const auto h0 = testing::random_floats(d * c.batch * h, 5, -1, 1), c0 = testing::random_floats(d * c.batch * h, 6);
    testing::KernelCase test;
    test.problem.op = "com.microsoft/DynamicQuantizeLSTM";
    test.problem.attributes.set("direction", std::string(c.direction));
    test.problem.attributes.set("hidden_size", h);
    const Shape scales = c.per_column ? Shape{d, rows} : Shape{d};
    test.add_src(testing::f32({c.steps, c.batch, c.inputs}), x);
    test.add_src({c.type, {d, c.inputs, rows}, Layout::plain}, w.values, true);
    test.add_src({c.type, {d, h, rows}, Layout::plain}, r.values, true);
    if (c.has_bias)
        test.add_src(testing::f32({d, 2 * rows}), bias, true);
    else
        test.add_absent();
    test.add_absent();
    if (c.has_states) {
        test.add_src(testing::f32({d, c.batch, h}), h0);
        test.add_src(testing::f32({d, c.batch, h}), c0, true);
    } else {
        test.add_absent();
        test.add_absent();
    }
    test.add_absent();
    for (const Matrix* m : {&w, &r}) {
        test.add_src(testing::f32(scales), m->scale, true);
        test.add_src({c.type, scales, Layout::plain}, m->zero, true);
    }
    test.problem.dst = {testing::f32({c.steps, d, c.batch, h}), testing::f32({d, c.batch, h}),
                        testing::f32({d, c.batch, h})};

    const std::vector<double> seen = rounded({x.begin(), x.end()});
    std::vector<double> y(static_cast<size_t>(c.steps * d * c.batch * h)), last_h, last_c;
    for (int64_t direction = 0; direction < d; ++direction) {
        std::vector<double> hidden(static_cast<size_t>(c.batch * h)), cell(hidden.size());
        for (size_t i = 0; c.has_states && i < hidden.size(); ++i) {
            hidden[i] = h0[static_cast<size_t>(direction * c.batch * h) + i];
            cell[i] = c0[static_cast<size_t>(direction * c.batch * h) + i];
        }
        const bool backwards = direction == 1 || std::string_view(c.direction) == "reverse";
        for (int64_t step = 0; step < c.steps; ++step) {
            const int64_t time = backwards ? c.steps - 1 - step : step;
            const std::vector<double> before = rounded(hidden);
            for (int64_t b = 0; b < c.batch; ++b)
                for (int64_t unit = 0; unit < h; ++unit) {
                    double gates[4];
                    for (int64_t gate = 0; gate < 4; ++gate) {
                        const int64_t row = gate * h + unit;
                        double sum = 0;
                        if (c.has_bias)
                            sum = static_cast<double>(bias[static_cast<size_t>(direction * 2 * rows + row)]) +
                                  bias[static_cast<size_t>(direction * 2 * rows + rows + row)];
                        for (int64_t k = 0; k < c.inputs; ++k)
                            sum += seen[static_cast<size_t>((time * c.batch + b) * c.inputs + k)] *
                                   w.real[static_cast<size_t>((direction * c.inputs + k) * rows + row)];
                        for (int64_t k = 0; k < h; ++k)
                            sum += before[static_cast<size_t>(b * h + k)] *
                                   r.real[static_cast<size_t>((direction * h + k) * rows + row)];
                        gates[gate] = sum;
                    }
                    const auto at = static_cast<size_t>(b * h + unit);
                    cell[at] = sigmoid(gates[2]) * cell[at] + sigmoid(gates[0]) * std::tanh(gates[3]);
                    hidden[at] = sigmoid(gates[1]) * std::tanh(cell[at]);
                    y[static_cast<size_t>(((time * d + direction) * c.batch + b) * h + unit)] = hidden[at];
                }
        }
        last_h.insert(last_h.end(), hidden.begin(), hidden.end());
        last_c.insert(last_c.end(), cell.begin(), cell.end());
    }
    int ran = 0;
    for (const Kernel* kernel : testing::kernels_for(test.problem.op)) {
        const Verdict verdict = kernel->supports(test.problem, Target::native(), test.choices);
        if (verdict.reason == Reason::isa) continue;
        const std::string what = std::string(kernel->name()) + " " + test.problem.text();
        // The operator's tolerance: a value between two integers may fall on either side.
        testing::expect_near(testing::run_kernel<float>(*kernel, test, 0), y, 1e-2, 1e-3, what);
        testing::expect_near(testing::run_kernel<float>(*kernel, test, 1), last_h, 1e-2, 1e-3, what);
        testing::expect_near(testing::run_kernel<float>(*kernel, test, 2), last_c, 1e-2, 1e-3, what);
        ++ran;
    }
    EXPECT_GT(ran, 0);
}

TEST(DynamicLstm, MatchesItsFormulas) {
    for (ElementType type : {ElementType::i8, ElementType::u8})
        for (bool per_column : {false, true}) {
            check({1, 1, 1, 1, "forward", type, per_column});
            check({5, 1, 7, 17, "reverse", type, per_column, false});
            check({4, 3, 24, 16, "bidirectional", type, per_column, true, true});
            check({9, 9, 3, 24, "forward", type, per_column, true, true});
        }
}

}  // namespace
}  // namespace headway
