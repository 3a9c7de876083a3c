#include "kernels/cpu/recurrent/recurrent.h"

#include <gtest/gtest.h>

#include <array>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

const Kernel step_emulated512{recurrent_fields(RecurrentAlgorithm::step, "emulated512", Isa::avx2,
                                               emulated512::recurrent_ops, emulated512::gemm_micro)};
const Kernel sequence_emulated512{recurrent_fields(RecurrentAlgorithm::sequence, "emulated512", Isa::avx2,
                                                   emulated512::recurrent_ops, emulated512::gemm_micro)};

struct Extents {
    int64_t steps, batch, inputs, hidden;
    std::string direction = "forward";
    bool states = true, constant_states = false, bias = true;
    int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};

struct Cell {
    std::string op;
    int64_t gates;
    int64_t linear_before_reset = 0;
};
const Cell lstm{"LSTM", 4}, gru{"GRU", 3}, gru_linear{"GRU", 3, 1}, rnn{"RNN", 1};
const Cell all_cells[] = {lstm, gru, gru_linear, rnn};

struct Data {
    std::vector<float> x, w, r, b, h, c;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double at(const std::vector<float>& values, int64_t index) {
    return values.empty() ? 0.0 : static_cast<double>(values[static_cast<size_t>(index)]);
}

// One sequence in one direction, in double.
class Walker {
public:
    Walker(const Cell& cell, const Extents& e, const Data& data, int64_t direction, int64_t row)
        : cell_(cell), e_(e), data_(data), direction_(direction), row_(row) {
        for (int64_t u = 0; u < e.hidden; ++u) {
            h.push_back(at(data.h, (direction * e.batch + row) * e.hidden + u));
            c.push_back(at(data.c, (direction * e.batch + row) * e.hidden + u));
        }
    }

    void advance(int64_t time) {
        std::vector<double> next = h;
        const std::vector<double> before = h;
        for (int64_t u = 0; u < e_.hidden; ++u) {
            const auto place = static_cast<size_t>(u);
            if (cell_.op == "LSTM") {
                c[place] = sigmoid(sum(time, 2, u, h)) * c[place] +
                           sigmoid(sum(time, 0, u, h)) * std::tanh(sum(time, 3, u, h));
                next[place] = sigmoid(sum(time, 1, u, h)) * std::tanh(c[place]);
            } else if (cell_.op == "RNN") {
                next[place] = std::tanh(sum(time, 0, u, h));
            } else {
                const double update = sigmoid(sum(time, 0, u, h));
                next[place] = (1 - update) * candidate(time, u) + update * h[place];
            }
        }
        h = next;
    }

    std::vector<double> h, c;

private:
    double of_input(int64_t time, int64_t gate, int64_t u) const {
        const int64_t row = (direction_ * cell_.gates + gate) * e_.hidden + u;
        double sum = at(data_.b, direction_ * 2 * cell_.gates * e_.hidden + gate * e_.hidden + u);
        for (int64_t i = 0; i < e_.inputs; ++i)
            sum += at(data_.x, (time * e_.batch + row_) * e_.inputs + i) * at(data_.w, row * e_.inputs + i);
        return sum;
    }
    double of_hidden(int64_t gate, int64_t u, const std::vector<double>& hidden) const {
        const int64_t row = (direction_ * cell_.gates + gate) * e_.hidden + u;
        double sum = at(data_.b, direction_ * 2 * cell_.gates * e_.hidden + (cell_.gates + gate) * e_.hidden + u);
        for (int64_t i = 0; i < e_.hidden; ++i)
            sum += hidden[static_cast<size_t>(i)] * at(data_.r, row * e_.hidden + i);
        return sum;
    }
    double sum(int64_t time, int64_t gate, int64_t u, const std::vector<double>& hidden) const {
        return of_input(time, gate, u) + of_hidden(gate, u, hidden);
    }
    double candidate(int64_t time, int64_t u) const {
        if (cell_.linear_before_reset != 0)
            return std::tanh(of_input(time, 2, u) + sigmoid(sum(time, 1, u, h)) * of_hidden(2, u, h));
        std::vector<double> reset;
        for (int64_t i = 0; i < e_.hidden; ++i)
            reset.push_back(sigmoid(sum(time, 1, i, h)) * h[static_cast<size_t>(i)]);
        return std::tanh(sum(time, 2, u, reset));
    }

    const Cell& cell_;
    const Extents& e_;
    const Data& data_;
    int64_t direction_, row_;
};

// The equations of the ONNX operator: outputs Y, Y_h, Y_c.
std::vector<std::vector<double>> expected(const Cell& cell, const Extents& e, const Data& data) {
    const int64_t d = e.directions(), state = e.batch * e.hidden;
    std::vector<std::vector<double>> out{std::vector<double>(static_cast<size_t>(e.steps * d * state)),
                                         std::vector<double>(static_cast<size_t>(d * state)),
                                         std::vector<double>(static_cast<size_t>(d * state))};
    for (int64_t k = 0; k < d; ++k)
        for (int64_t row = 0; row < e.batch; ++row) {
            Walker walker(cell, e, data, k, row);
            const int64_t place = (k * e.batch + row) * e.hidden;
            for (int64_t step = 0; step < e.steps; ++step) {
                const int64_t time = e.direction == "reverse" || k == 1 ? e.steps - 1 - step : step;
                walker.advance(time);
                std::ranges::copy(walker.h, out[0].begin() + time * d * state + place);
            }
            std::ranges::copy(walker.h, out[1].begin() + place);
            std::ranges::copy(walker.c, out[2].begin() + place);
        }
    return out;
}

testing::KernelCase make_case(const Cell& cell, const Extents& e, Data& data) {
    const int64_t d = e.directions(), g = cell.gates;
    const bool has_cell = cell.op == "LSTM";
    const auto values = [](int64_t count, uint32_t seed) { return testing::random_floats(count, seed, -0.5F, 0.5F); };
    data.x = values(e.steps * e.batch * e.inputs, 1);
    data.w = values(d * g * e.hidden * e.inputs, 2);
    data.r = values(d * g * e.hidden * e.hidden, 3);
    testing::KernelCase test;
    test.problem.op = cell.op;
    test.problem.attributes.set("direction", e.direction);
    test.problem.attributes.set("hidden_size", e.hidden);
    if (cell.linear_before_reset != 0) test.problem.attributes.set("linear_before_reset", cell.linear_before_reset);
    test.add_src(testing::f32({e.steps, e.batch, e.inputs}), data.x);
    test.add_src(testing::f32({d, g * e.hidden, e.inputs}), data.w, true);
    test.add_src(testing::f32({d, g * e.hidden, e.hidden}), data.r, true);
    if (e.bias)
        test.add_src(testing::f32({d, 2 * g * e.hidden}), data.b = values(d * 2 * g * e.hidden, 4), true);
    else
        test.add_absent();
    test.add_absent();
    const Shape state{d, e.batch, e.hidden};
    if (e.states) {
        test.add_src(testing::f32(state), data.h = values(state.elements(), 5), e.constant_states);
        if (has_cell) test.add_src(testing::f32(state), data.c = values(state.elements(), 6));
    }
    test.problem.dst = {testing::f32({e.steps, d, e.batch, e.hidden}), testing::f32(state)};
    if (has_cell) test.problem.dst.push_back(testing::f32(state));
    return test;
}

void check_case(const testing::KernelCase& test, const std::vector<std::vector<double>>& want, double tolerance,
                const Target& target = Target::native()) {
    for (const Kernel* kernel : testing::kernels_for(test.problem.op))
        for (size_t output = 0; output < test.problem.dst.size(); ++output)
            testing::expect_near(
                testing::run_kernel<float>(*kernel, test, output, target), want[output], tolerance, tolerance,
                std::string(kernel->name()) + " output " + std::to_string(output) + " " + test.problem.text());
}

double tolerance_of(const Extents& e) { return 3e-6 * std::sqrt(static_cast<double>(std::max<int64_t>(e.steps, 1))); }

void check(const Cell& cell, const Extents& e) {
    Data data;
    testing::KernelCase test = make_case(cell, e, data);
    const auto want = expected(cell, e, data);
    check_case(test, want, tolerance_of(e));
    test.choices.set("recurrent.weights", "bf16");
    check_case(test, want, 2e-2);
}

TEST(Recurrent, OneStep) {
    for (const Cell& cell : all_cells) {
        check(cell, {1, 1, 128, 128});
        check(cell, {1, 1, 7, 5, "forward", false});
        check(cell, {1, 4, 24, 17, "forward", true, true});
        check(cell, {1, 1, 3, 16, "reverse", true, false, false});
    }
}

TEST(Recurrent, ManySteps) {
    for (const Cell& cell : all_cells) {
        check(cell, {7, 1, 12, 20});
        check(cell, {6, 3, 12, 16, "reverse"});
        check(cell, {5, 8, 9, 33, "bidirectional"});
        check(cell, {4, 2, 9, 40, "bidirectional", false, false, false});
    }
}

TEST(Recurrent, EveryNumberOfRows) {
    for (const Cell& cell : all_cells)
        for (int64_t batch : {1, 2, 3, 4, 5, 6, 7, 13}) check(cell, {2, batch, 3, 17, "forward"});
}

// Chunks that do not divide the steps, both ways of sharing, and both orders of the weights.
TEST(Recurrent, ChunksSplitsAndSweeps) {
    for (const Cell& cell : all_cells)
        for (const char* direction : {"bidirectional", "reverse"}) {
            const Extents e{130, 2, 3, 17, direction};
            Data data;
            testing::KernelCase test = make_case(cell, e, data);
            const auto want = expected(cell, e, data);
            const std::vector<std::array<const char*, 3>> settings{
                {"16", "auto", "turning"}, {"64", "direction", "forward"}, {"512", "units", "turning"}};
            for (const auto& [rows, split, sweep] : settings) {
                test.choices.set("recurrent.chunk_rows", rows);
                test.choices.set("recurrent.split", split);
                test.choices.set("recurrent.sweep", sweep);
                check_case(test, want, tolerance_of(e));
            }
        }
}

TEST(Recurrent, RowsBlocksAndPolynomials) {
    for (const Cell& cell : all_cells) {
        const Extents e{3, 7, 6, 40, "bidirectional"};
        Data data;
        testing::KernelCase test = make_case(cell, e, data);
        const auto want = expected(cell, e, data);
        test.choices.set("recurrent.split", "units");
        const std::vector<std::array<const char*, 2>> settings{{"1", "2"}, {"2", "16"}, {"3", "1"}};
        for (const auto& [rows, blocks] : settings) {
            test.choices.set("recurrent.rows", rows);
            test.choices.set("recurrent.blocks", blocks);
            check_case(test, want, tolerance_of(e));
        }
        test.choices.set("recurrent.exp", "poly4");
        check_case(test, want, 2e-5);
    }
}

TEST(Recurrent, ManyThreads) {
    for (const Cell& cell : all_cells)
        for (int threads : {2, 3, 8}) {
            const Extents e{5, 14, 6, 20, "bidirectional"};
            Data data;
            const testing::KernelCase test = make_case(cell, e, data);
            Target target = Target::native();
            target.threads = threads;
            check_case(test, expected(cell, e, data), tolerance_of(e), target);
        }
}

TEST(Recurrent, EmptyExtents) {
    for (const Cell& cell : all_cells) {
        check(cell, {0, 2, 3, 5, "bidirectional"});
        check(cell, {0, 2, 3, 5, "forward", true, true});
        check(cell, {0, 1, 3, 5, "forward", false});
        check(cell, {3, 0, 3, 5});
        check(cell, {0, 0, 3, 5});
        check(cell, {3, 2, 0, 5});
    }
}

TEST(Recurrent, UnusedOutputs) {
    for (const Cell& cell : all_cells) {
        Data data;
        const Extents e{3, 2, 6, 20};
        testing::KernelCase test = make_case(cell, e, data);
        for (size_t output : {0, 2})
            if (output < test.problem.dst.size())
                test.problem.dst[output] = TensorDesc{ElementType::undefined, {}, Layout::plain};
        for (const Kernel* kernel : testing::kernels_for(cell.op))
            testing::expect_near(testing::run_kernel<float>(*kernel, test, 1), expected(cell, e, data)[1], 1e-5, 1e-5,
                                 std::string(kernel->name()));
    }
}

// A step costs least where it is taken alone, a sequence where there are many: the cost model's choice.
TEST(Recurrent, CheaperAlgorithm) {
    const auto flops = [](const Kernel& kernel, int64_t steps) {
        Data data;
        return kernel.fields().work(make_case(lstm, {steps, 1, 128, 128}, data).problem, Target::native(), {});
    };
    const Work one = flops(step_emulated512, 1), one_of_many = flops(sequence_emulated512, 1);
    EXPECT_LT(one.flops, one_of_many.flops);
    EXPECT_LT(one.bytes, one_of_many.bytes);
    const Work steps = flops(step_emulated512, 100), sequence = flops(sequence_emulated512, 100);
    EXPECT_GT(steps.flops, sequence.flops);
    EXPECT_GT(steps.bytes, sequence.bytes);
}

TEST(Recurrent, WholeLengthsAreTaken) {
    Data data;
    testing::KernelCase test = make_case(lstm, {3, 2, 4, 4, "forward", false}, data);
    test.problem.src[4] = TensorDesc{ElementType::i32, {2}, Layout::plain};
    test.problem.constant[4] = true;
    const auto supported = [&](const std::vector<int32_t>& values) {
        Problem problem = test.problem;
        const Tensor lengths = Tensor::of<int32_t>({2}, values);
        std::vector<const Tensor*> constants(problem.src.size(), nullptr);
        constants[4] = &lengths;
        give_constants(problem, constants);
        return step_emulated512.supports(problem, Target::native(), {});
    };
    EXPECT_TRUE(supported({3, 3}));
    EXPECT_EQ(supported({3, 2}).reason, Reason::attribute);
    EXPECT_EQ(step_emulated512.supports(test.problem, Target::native(), {}).reason, Reason::attribute);
}

TEST(Recurrent, Refusals) {
    Data data;
    const testing::KernelCase good = make_case(lstm, {2, 1, 4, 4}, data);
    const auto reason = [](const Problem& problem) {
        return sequence_emulated512.supports(problem, Target::native(), {}).reason;
    };
    Problem problem = good.problem;
    problem.constant[1] = false;
    EXPECT_EQ(reason(problem), Reason::needs_constant);
    problem = good.problem;
    problem.attributes.set("activations", std::vector<std::string>{"Sigmoid", "Relu", "Tanh"});
    EXPECT_EQ(reason(problem), Reason::attribute);
    problem = make_case(gru, {2, 1, 4, 4}, data).problem;
    problem.attributes.set("activations", std::vector<std::string>{"Sigmoid", "Tanh"});
    EXPECT_EQ(reason(problem), Reason::none);
    problem.attributes.set("activations", std::vector<std::string>{"Tanh", "Tanh"});
    EXPECT_EQ(reason(problem), Reason::attribute);
    problem = good.problem;
    problem.attributes.set("layout", int64_t{1});
    EXPECT_EQ(reason(problem), Reason::attribute);
    problem = good.problem;
    problem.attributes.set("clip", 1.0F);
    EXPECT_EQ(reason(problem), Reason::attribute);
    problem = good.problem;
    problem.src[2]->shape = {1, 16, 5};
    EXPECT_EQ(reason(problem), Reason::shape);
}

}  // namespace
}  // namespace headway
