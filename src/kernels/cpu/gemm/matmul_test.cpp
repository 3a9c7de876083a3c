#include "kernels/cpu/gemm/matmul.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "kernels/cpu/gemm/strassen.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

struct Case {
    Shape a, b;
    bool constant_b = true;
    bool gemm = false, turn_a = false, turn_b = false;
    float alpha = 1, beta = 1;
    std::vector<Shape> c = {};  // none or one
    bool constant_c = true;
    bool epilogue = false;
    bool constant_a = false;

    std::string text() const {
        return (gemm ? "Gemm " : "MatMul ") + a.text() + (constant_a ? " constant by " : " by ") + b.text() +
               (constant_b ? " constant" : "") + (turn_a ? " transA" : "") + (turn_b ? " transB" : "") + " alpha " +
               std::to_string(alpha) + " beta " + std::to_string(beta) +
               (c.empty() ? "" : " c " + c[0].text() + (constant_c ? " constant" : "")) + (epilogue ? " epilogue" : "");
    }
};

// Value of a tensor broadcast to `shape` at a flat position of it; the last `skip` axes are indexed by row and column.
int64_t broadcast_batch(const Shape& operand, const Shape& out, int64_t batch, size_t out_matrix_rank,
                        size_t matrix_rank) {
    int64_t at = 0, step = 1;
    for (size_t i = 0; i + out_matrix_rank < out.rank(); ++i) {
        const int64_t extent = out[out.rank() - out_matrix_rank - 1 - i];
        const int64_t index = batch % extent;
        batch /= extent;
        if (i + matrix_rank >= operand.rank()) continue;
        const int64_t own = operand[operand.rank() - matrix_rank - 1 - i];
        at += (own == 1 ? 0 : index) * step;
        step *= own;
    }
    return at;
}

struct Built {
    Problem problem;
    std::vector<Tensor> src, operands;
    std::vector<double> expected, scale;
};

Shape output_shape(const Case& c) {
    if (c.gemm) return Shape{c.a[c.turn_a ? 1 : 0], c.b[c.turn_b ? 0 : 1]};
    Shape a = c.a, b = c.b;
    if (a.rank() == 1) a = Shape{1, a[0]};
    const Shape batch = broadcast(Shape(std::vector<int64_t>(a.begin(), a.end() - 2)),
                                  Shape(std::vector<int64_t>(b.begin(), b.end() - 2)));
    std::vector<int64_t> dims = batch.dims();
    if (c.a.rank() > 1) dims.push_back(a[a.rank() - 2]);
    dims.push_back(b.back());
    return Shape(dims);
}

Built build(const Case& c, ComputeFormat format) {
    Built built;
    built.src = {testing::random_tensor(c.a, 1), testing::random_tensor(c.b, 2)};
    if (!c.c.empty()) built.src.push_back(testing::random_tensor(c.c[0], 3));
    Problem& problem = built.problem;
    problem.op = c.gemm ? "Gemm" : "MatMul";
    if (c.gemm) {
        problem.attributes.set("transA", int64_t{c.turn_a});
        problem.attributes.set("transB", int64_t{c.turn_b});
        problem.attributes.set("alpha", c.alpha);
        problem.attributes.set("beta", c.beta);
    }
    for (const Tensor& tensor : built.src)
        problem.src.push_back(TensorDesc{ElementType::f32, tensor.shape(), Layout::plain});
    problem.constant = {c.constant_a, c.constant_b};
    if (!c.c.empty()) problem.constant.push_back(c.constant_c);
    problem.dst.push_back(TensorDesc{ElementType::f32, output_shape(c), Layout::plain});
    const Shape& out = problem.dst[0].shape;
    if (c.epilogue) {
        problem.epilogue = Program::parse("r1=load 0; r0=add r0 r1; r0=relu r0; r2=load 1; r0=mul r0 r2 -> r0");
        problem.operands = {problem.dst[0], TensorDesc{ElementType::f32, Shape{out.back()}, Layout::plain}};
        built.operands = {testing::random_tensor(out, 4), testing::random_tensor(Shape{out.back()}, 5)};
    }
    const bool vector_a = !c.gemm && c.a.rank() == 1;
    const size_t out_matrix = vector_a ? 1 : 2;
    const int64_t n = out.back(), m = vector_a ? 1 : out[out.rank() - 2];
    const int64_t k = c.gemm ? c.a[c.turn_a ? 0 : 1] : c.a.back();
    for (int64_t at = 0; at < out.elements(); ++at) {
        const int64_t column = at % n, row = at / n % m, batch = at / n / m;
        const int64_t a0 = broadcast_batch(c.a, out, batch, out_matrix, vector_a ? 1 : 2) * m * k;
        const int64_t b0 = broadcast_batch(c.b, out, batch, out_matrix, 2) * k * n;
        double value = 0, scale = 0;
        for (int64_t i = 0; i < k; ++i) {
            const double a = built.src[0].at(a0 + (c.turn_a ? i * m + row : row * k + i));
            const double b = built.src[1].at(b0 + (c.turn_b ? column * k + i : i * n + column));
            const double product = testing::operand(a, format) * testing::operand(b, format);
            value += product, scale += std::abs(product);
        }
        value *= c.alpha, scale *= std::abs(c.alpha);
        if (!c.c.empty()) {
            const Shape& s = c.c[0];
            const int64_t columns = s.rank() == 0 ? 1 : s.back(), rows = s.rank() < 2 ? 1 : s[0];
            value += c.beta * built.src[2].at((rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column));
            scale += std::abs(c.beta);
        }
        if (c.epilogue) {
            const double operands[] = {built.operands[0].at(at), built.operands[1].at(column)};
            evaluate(problem.epilogue, value, operands, &value);
            scale += 1;
        }
        built.expected.push_back(value);
        built.scale.push_back(scale);
    }
    return built;
}

std::string check(const Kernel& kernel, const Case& c, const Choices& choices, double tolerance) {
    const Built built = build(c, kernel.fields().compute);
    const Target target = testing::target_of(kernel);
    const Verdict verdict = kernel.supports(built.problem, target, choices);
    if (!verdict) return "refused: " + verdict.text();
    const testing::KernelCase test = testing::case_of(built.problem, built.src, built.operands, choices);
    const std::string wrong = testing::first_wrong(testing::run_kernel<float>(kernel, test, 0, target), built.expected,
                                                   built.scale, tolerance);
    return wrong.empty() ? "" : std::string(kernel.name()) + " on " + c.text() + ": " + wrong;
}

std::vector<Case> cases() {
    std::vector<Case> cases;
    for (bool constant : {true, false})
        for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{1, 5}, {5, 1}},
                                                                       {{1, 300}, {300, 33}},
                                                                       {{7, 17}, {17, 24}},
                                                                       {{19, 520}, {520, 40}},
                                                                       {{3, 13, 8}, {8, 18}},
                                                                       {{2, 3, 20, 15}, {2, 3, 15, 20}},
                                                                       {{2, 1, 5, 7}, {3, 7, 9}},
                                                                       {{1, 4, 6}, {5, 6, 8}},
                                                                       {{9}, {9, 11}},
                                                                       {{9}, {4, 9, 11}},
                                                                       {{0, 8}, {8, 8}},
                                                                       {{3, 0}, {0, 5}},
                                                                       {{130, 64}, {64, 130}},
                                                                       {{5, 12, 20}, {5, 20, 16}},
                                                                       {{5, 12, 20}, {5, 20, 32}}})
            cases.push_back({a, b, constant, false, false, false, 1, 1, {}, true, a.rank() % 2 == 0});
    for (bool constant : {true, false})
        for (int form = 0; form < 4; ++form) {
            const bool turn_a = form % 2 == 1, turn_b = form >= 2;
            const Shape a = turn_a ? Shape{21, 13} : Shape{13, 21}, b = turn_b ? Shape{34, 21} : Shape{21, 34};
            cases.push_back({a, b, constant, true, turn_a, turn_b, 0.5F, 2, {Shape{34}}, true, false});
            cases.push_back({a, b, constant, true, turn_a, turn_b, 1, -1, {Shape{13, 34}}, constant, true});
            cases.push_back({a, b, constant, true, turn_a, turn_b, 1, 1, {Shape{13, 1}}, false, false});
            cases.push_back({a, b, constant, true, turn_a, turn_b, 1, 1, {Shape{}}, true, true});
            cases.push_back({a, b, constant, true, turn_a, turn_b, 1, 0, {Shape{34}}, true, false});
        }
    for (size_t i = 0, count = cases.size(); i < count; ++i) {
        cases.push_back(cases[i]);
        cases.back().constant_a = true;
    }
    return cases;
}

const Kernel gemm_emulated512{gemm_matmul(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel gemv_emulated512{gemv_matmul(Isa::avx2, "emulated512", emulated512::gemm_micro)};
const Kernel gemm_emulated_bf16{gemm_matmul(Isa::avx2, "emulated512bf16", emulated512::bf16_gemm_micro)};
const Kernel gemv_emulated_bf16{gemv_matmul(Isa::avx2, "emulated512bf16", emulated512::bf16_gemm_micro)};

const Kernel strassen_emulated512{
    strassen_matmul(Isa::avx2, "emulated512", emulated512::gemm_micro, emulated512::quarter_sums)};

void check_all(std::string_view family_variant, const Choices& choices, double tolerance) {
    for (const Kernel* kernel : testing::kernels_of(family_variant))
        for (const Case& c : cases())
            EXPECT_EQ(check(*kernel, c, choices, tolerance),
                      kernel->fields().compute == ComputeFormat::fp32 || c.constant_b
                          ? ""
                          : "refused: needs constant: the right operand is computed at run time (bf16 packs it)");
}

TEST(matmul, gemm) { check_all("matmul.gemm", {}, 2e-6); }
TEST(matmul, gemv) { check_all("matmul.gemv", {}, 2e-6); }

// Odd numbers of rows, quarters that are no whole vectors, and the forms of the other products that it takes. The bound
// on the error grows by what the sums of quarters add to the scale: each operand's twice.
TEST(matmul, strassen) {
    std::vector<Case> all = cases();
    for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{2, 2}, {2, 2}},
                                                                   {{3, 6}, {6, 10}},
                                                                   {{37, 34}, {34, 66}},
                                                                   {{2, 33, 48}, {48, 126}},
                                                                   {{101, 514}, {514, 70}}})
        for (bool epilogue : {false, true}) all.push_back({a, b, true, false, false, false, 1, 1, {}, true, epilogue});
    for (const Kernel* kernel : testing::kernels_of("matmul.strassen")) {
        int checked = 0;
        for (const Case& c : all) {
            const std::string complaint = check(*kernel, c, {}, 4 * 2e-6);
            if (complaint.starts_with("refused")) continue;
            EXPECT_EQ(complaint, "");
            ++checked;
        }
        EXPECT_GE(checked, 13) << kernel->name();
    }
}

TEST(matmul, onednn) {
    if (Target::native().onednn == "absent") GTEST_SKIP() << "no oneDNN plug-in here";
    for (const Kernel* kernel : testing::kernels_of("matmul.onednn")) {
        int checked = 0;
        for (const Case& c : cases()) {
            const std::string complaint = check(*kernel, c, {}, 2e-6);
            if (complaint.starts_with("refused")) continue;
            EXPECT_EQ(complaint, "");
            ++checked;
        }
        EXPECT_GE(checked, 12) << kernel->name();
    }
}

TEST(matmul, bf16_weights_and_small_blocks) {
    Choices choices;
    choices.set("format.weights", "bf16");
    choices.set("gemm.mc", "24");
    choices.set("gemm.nc", "16");
    choices.set("gemm.kc", "128");
    check_all("matmul.gemm", choices, 5e-3);
}

}  // namespace
}  // namespace headway
