#include "kernels/cpu/pointwise/tile_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/checked.h"

namespace headway {
namespace {

struct IsaCase {
    const char* name;
    const TileOps& (*ops)();
    bool runs;
};

std::vector<IsaCase> isa_cases() {
    return {{"baseline", baseline::tile_ops, true},
            {"avx2", avx2::tile_ops, runs_here(Isa::avx2)},
            {"emulated512", emulated512::tile_ops, runs_here(Isa::avx2)},
            {"avx512", avx512::tile_ops, runs_here(Isa::avx512)}};
}

// Offset of a logical index (n, c, spatial...) in a tensor's memory; the index is broadcast to its shape from the
// right.
int64_t offset_of(const TensorDesc& desc, const std::vector<int64_t>& index) {
    const size_t rank = desc.shape.rank();
    const size_t skip = index.size() - rank;
    std::vector<int64_t> at(rank);
    for (size_t i = 0; i < rank; ++i) at[i] = desc.shape[i] == 1 ? 0 : index[i + skip];
    int64_t offset = 0;
    if (desc.layout == Layout::plain) {
        for (size_t i = 0; i < rank; ++i) offset = offset * desc.shape[i] + at[i];
        return offset;
    }
    const int64_t block = channel_block(desc.layout);
    const bool blocked = block > 1;
    offset = at[0];
    if (blocked) offset = offset * ceil_div(desc.shape[1], block) + at[1] / block;
    for (size_t i = 2; i < rank; ++i) offset = offset * desc.shape[i] + at[i];
    return blocked ? offset * block + at[1] % block : offset * desc.shape[1] + at[1];
}

std::vector<float> random_values(const TensorDesc& desc, uint32_t seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-4, 4);
    std::vector<float> values(static_cast<size_t>(desc.physical_elements()));
    for (float& value : values) value = uniform(generator);
    return values;
}

// Calls f with every logical index of the shape.
template <class F>
void for_each_index(const Shape& shape, F f) {
    std::vector<int64_t> index(shape.rank(), 0);
    for (int64_t i = 0; i < shape.elements(); ++i) {
        int64_t left = i;
        for (size_t d = shape.rank(); d-- > 0;) {
            index[d] = left % shape[d];
            left /= shape[d];
        }
        f(index);
    }
}

struct Case {
    std::string program;
    TensorDesc dst;
    std::vector<TensorDesc> operands;
    int inner_dims = 1;
};

// Applies the program in pieces of `rows` x `cols` and compares with evaluate(); padding channels must be zero.
void check(const Case& test, const TileOps& ops, int64_t rows, int64_t cols, bool in_place, int64_t tile) {
    const Program program = Program::parse(test.program);
    ASSERT_TRUE(TileProgram::supports(program, test.dst, test.operands, test.inner_dims))
        << TileProgram::supports(program, test.dst, test.operands, test.inner_dims).text();
    const TileProgram tiles(program, test.dst, test.operands, test.inner_dims, ops, {.tile = tile});
    const std::vector<float> anchor = random_values(test.dst, 1);
    std::vector<std::vector<float>> values;
    std::vector<const std::byte*> pointers;
    for (size_t k = 0; k < test.operands.size(); ++k)
        values.push_back(random_values(test.operands[k], static_cast<uint32_t>(k) + 2));
    for (const auto& value : values) pointers.push_back(reinterpret_cast<const std::byte*>(value.data()));
    const auto size = static_cast<size_t>(test.dst.physical_elements());
    std::vector<std::vector<float>> dst(program.results.size(), std::vector<float>(size, -77));
    std::vector<float*> dst_pointers;
    if (in_place) dst[0] = anchor;
    for (auto& d : dst) dst_pointers.push_back(d.data());
    for (int64_t r = 0; r < tiles.rows(); r += rows)
        for (int64_t c = 0; c < tiles.cols(); c += cols) {
            const float* from = (in_place ? dst[0].data() : anchor.data()) + r * tiles.cols() + c;
            tiles.apply(pointers.data(), from, tiles.cols(), r, std::min(rows, tiles.rows() - r), c,
                        std::min(cols, tiles.cols() - c), dst_pointers.data());
        }
    std::vector<bool> real(size, false);
    for_each_index(test.dst.shape, [&](const std::vector<int64_t>& index) {
        const auto at = static_cast<size_t>(offset_of(test.dst, index));
        real[at] = true;
        std::vector<double> inputs, want(program.results.size());
        for (size_t k = 0; k < values.size(); ++k)
            inputs.push_back(values[k][static_cast<size_t>(offset_of(test.operands[k], index))]);
        evaluate(program, anchor[at], inputs.data(), want.data());
        for (size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR(dst[i][at], want[i], 1e-5 + 1e-5 * std::fabs(want[i])) << test.program << " at " << at;
    });
    for (const auto& d : dst)
        for (size_t at = 0; at < size; ++at) {
            if (real[at]) continue;
            ASSERT_EQ(d[at], 0.0F) << "padding at " << at;
        }
}

void check_everywhere(const Case& test) {
    for (const IsaCase& isa : isa_cases()) {
        if (!isa.runs) continue;
        SCOPED_TRACE(std::string(isa.name) + " " + test.program + " dst " + test.dst.shape.text() + " " +
                     std::string(to_string(test.dst.layout)));
        for (int64_t tile : {1024, 64}) {
            check(test, isa.ops(), 1 << 20, 1 << 20, false, tile);
            check(test, isa.ops(), 3, 1 << 20, true, tile);
            check(test, isa.ops(), 5, 6, false, tile);
            check(test, isa.ops(), 1, 16, true, tile);
        }
    }
}

TensorDesc desc(Shape shape, Layout layout = Layout::plain) { return {ElementType::f32, std::move(shape), layout}; }

const char* const three_operands =
    "r1=load 0; r2=load 1; r3=load 2; r0=mul r0 r1; r0=add r0 r2; r0=relu r0; r0=sub r0 r3 -> r0";

TEST(TileProgram, ChannelAndFullOperandsInEveryLayout) {
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
        for (int64_t channels : {1, 3, 17, 24, 32}) {
            const TensorDesc dst = desc({2, channels, 5, 7}, layout);
            check_everywhere({three_operands, dst, {desc({channels, 1, 1}), dst, desc({1})}, 2});
            check_everywhere({three_operands,
                              dst,
                              {desc({2, channels, 1, 1}), desc({1, 1, 5, 7}), dst},
                              layout == Layout::plain ? 1 : 2});
        }
}

TEST(TileProgram, OperandsInTheLayoutOfTheDst) {
    for (Layout layout : {Layout::nhwc, Layout::nchw8c, Layout::nchw16c}) {
        const TensorDesc dst = desc({2, 20, 3, 4}, layout);
        check_everywhere({three_operands,
                          dst,
                          {desc({2, 20, 1, 1}, layout), desc({1, 20, 3, 4}, layout), desc({1, 1, 1, 4}, layout)}});
    }
}

TEST(TileProgram, BroadcastOverAnyAxisOfPlain) {
    const TensorDesc dst = desc({3, 4, 5, 6});
    check_everywhere({three_operands, dst, {desc({3, 1, 5, 1}), desc({4, 1, 6}), desc({3, 4, 5, 6})}, 1});
    check_everywhere({three_operands, dst, {desc({3, 1, 5, 1}), desc({4, 1, 1}), desc({3, 4, 1, 1})}, 1});
    check_everywhere({three_operands, dst, {desc({6}), desc({5, 6}), desc({3, 4, 5, 6})}, 1});
    check_everywhere({three_operands, desc({}), {desc({}), desc({}), desc({})}, 1});
    check_everywhere({three_operands, desc({1500}), {desc({}), desc({1500}), desc({1})}, 1});
}

TEST(TileProgram, ZeroElements) {
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c})
        for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{2, 3, 0, 4}}) {
            const TensorDesc dst = desc(shape, layout);
            check_everywhere({three_operands, dst, {desc({3, 1, 1}), dst, desc({})}, 2});
        }
}

TEST(TileProgram, ResultsThatAreInputsOrConstants) {
    const TensorDesc dst = desc({2, 24, 3, 3}, Layout::nhwc);
    const std::vector<TensorDesc> operands{desc({24, 1, 1}), dst};
    check_everywhere({"-> r0", dst, {}});
    check_everywhere({"r1=load 0; r2=load 1; r3=imm 4 -> r1 r2 r3 r0", dst, operands});
    check_everywhere({"r1=load 1; r2=add r0 r1; r3=mul r2 r0 -> r2 r3 r2", dst, operands});
    check_everywhere(
        {"r1=imm 2; r2=imm 3; r3=mul r1 r2; r4=neg r1; r5=sub r1 r2; r0=add r5 r4 -> r3 r0", dst, operands});
    check_everywhere(
        {"r1=load 0; r2=imm 3; r3=mul r1 r2; r3=add r3 r2; r4=div r2 r1; r0=mul r4 r3 -> r0", dst, operands});
}

// Every operation, as the last one and followed by every function that may be merged into it.
TEST(TileProgram, EveryOperationAndMerge) {
    const TensorDesc dst = desc({1, 19, 2, 3}, Layout::nhwc);
    const std::vector<TensorDesc> operands{desc({19, 1, 1}), dst, desc({})};
    const std::string loads = "r1=load 0; r2=load 1; r3=load 2; r4=imm 1.5; ";
    for (const char* after :
         {"", "; r0=relu r0", "; r0=clip r0 -1 2", "; r0=leaky_relu r0 0.1", "; r0=hard_sigmoid r0 0.2 0.5",
          "; r0=hard_swish r0", "; r0=mul_add r0 2 1", "; r0=tanh r0"}) {
        for (const char* op : {"add", "sub", "mul", "max", "min"})
            for (const char* args : {"r0 r1", "r2 r0", "r0 r3", "r3 r0", "r4 r0", "r0 r4", "r0 r0"})
                check_everywhere({loads + "r0=" + op + " " + args + after + " -> r0", dst, operands});
        for (const char* args : {"r0 r1; r0=add r0 r2", "r0 r3; r0=add r2 r0", "r4 r0; r0=add r0 r3",
                                 "r0 r1; r0=add r0 r4", "r3 r4; r0=add r0 r1"})
            check_everywhere({loads + "r0=mul " + args + after + " -> r0", dst, operands});
    }
    for (const char* op : {"neg", "abs", "exp", "erf", "tanh", "sigmoid", "relu", "floor", "ceil", "round", "sin",
                           "cos", "softplus", "gelu", "gelu_tanh", "hard_swish", "silu"})
        check_everywhere({loads + "r0=" + op + " r0 -> r0", dst, operands});
    for (const char* op :
         {"clip r0 -1 1", "leaky_relu r0 0.3", "hard_sigmoid r0 0.2 0.5", "mul_add r0 2 3", "elu r0 1.5",
          "pow_imm r0 2", "pow_imm r0 3", "pow_imm r0 1", "pow_imm r0 -1", "bf16_round r0", "reciprocal r0"})
        check_everywhere({loads + "r0=" + op + " -> r0", dst, operands});
    for (const char* op : {"sqrt r1", "log r1", "pow r1 r0", "pow_imm r1 0.5", "pow_imm r1 -0.5", "pow_imm r1 1.7",
                           "pow r1 r4", "div r0 r1", "div r4 r1"})
        check_everywhere({loads + "r1=abs r1; r1=add r1 r4; r0=" + op + " -> r0", dst, operands});
}

// Largest error of a function in ulp of the result, over a sweep of bit patterns.
double largest_ulp(const TileOps& ops, const std::string& program_text, float low, float high) {
    const Program program = Program::parse(program_text);
    const TensorDesc dst = desc({1 << 16});
    const TileProgram tiles(program, dst, {}, 1, ops);
    std::vector<float> in(1 << 16), out(1 << 16);
    std::mt19937 generator(5);
    std::uniform_real_distribution<float> uniform(low, high);
    std::uniform_real_distribution<float> exponent(-20, 7);
    for (size_t i = 0; i < in.size(); ++i) {
        const float small = std::exp2(exponent(generator)) * (i % 4 == 1 ? -1.0F : 1.0F);
        in[i] = i % 2 == 0 ? uniform(generator) : std::clamp(small, low, high);
    }
    float* to = out.data();
    tiles.apply(nullptr, in.data(), 1 << 16, 0, tiles.rows(), 0, tiles.cols(), &to);
    double worst = 0;
    for (size_t i = 0; i < in.size(); ++i) {
        double want = 0;
        evaluate(program, in[i], nullptr, &want);
        if (std::fabs(want) < 2.4e-38 || std::fabs(want) > 3.4e38) continue;
        int exponent_of_want = 0;
        std::frexp(want, &exponent_of_want);
        worst = std::max(worst, std::fabs(out[i] - want) / std::ldexp(1.0, exponent_of_want - 24));
    }
    return worst;
}

TEST(TileProgram, ElementaryFunctionsKeepTheirStatedErrors) {
    for (const IsaCase& isa : isa_cases()) {
        if (!isa.runs) continue;
        const auto ulp = [&](const std::string& op, float low, float high) {
            const double worst = largest_ulp(isa.ops(), "r0=" + op + " r0 -> r0", low, high);
            RecordProperty(std::string(isa.name) + "_" + op, std::to_string(worst));
            return worst;
        };
        SCOPED_TRACE(isa.name);
        EXPECT_LT(ulp("exp", -87, 88.7F), 1.5);
        EXPECT_LT(ulp("log", 1e-30F, 1e30F), 1.0);
        EXPECT_LT(ulp("tanh", -12, 12), 2.0);
        EXPECT_LT(ulp("sigmoid", -86, 30), 2.5);
        EXPECT_LT(ulp("erf", -5, 5), 1.5);
        EXPECT_LT(ulp("softplus", -80, 40), 3.0);
        EXPECT_LT(ulp("silu", -80, 40), 3.0);
        EXPECT_LT(ulp("gelu", -1, 20), 5.0);
    }
}

float run_one(const TileOps& ops, const std::string& program, float anchor, float operand) {
    const TensorDesc dst = desc({1});
    const TileProgram tiles(Program::parse(program), dst, {dst}, 1, ops);
    const auto* operands = reinterpret_cast<const std::byte*>(&operand);
    float result = 0;
    float* to = &result;
    tiles.apply(&operands, &anchor, 1, 0, 1, 0, 1, &to);
    return result;
}

TEST(TileProgram, NanAndInfinity) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    for (const IsaCase& isa : isa_cases()) {
        if (!isa.runs) continue;
        SCOPED_TRACE(isa.name);
        const TileOps& ops = isa.ops();
        for (const char* op : {"neg r0",        "abs r0",         "sqrt r0",           "exp r0",
                               "log r0",        "erf r0",         "tanh r0",           "sigmoid r0",
                               "relu r0",       "floor r0",       "softplus r0",       "gelu r0",
                               "gelu_tanh r0",  "clip r0 0 6",    "leaky_relu r0 0.1", "hard_sigmoid r0 0.2 0.5",
                               "hard_swish r0", "silu r0",        "elu r0 1",          "pow_imm r0 2",
                               "bf16_round r0", "mul_add r0 1 1", "max r0 r1",         "max r1 r0",
                               "min r0 r1",     "min r1 r0"})
            EXPECT_TRUE(std::isnan(run_one(ops, std::string("r1=load 0; r0=") + op + " -> r0", nan, 1))) << op;
        const auto of = [&](const char* op, float x) {
            return run_one(ops, std::string("r0=") + op + " r0 -> r0", x, 0);
        };
        EXPECT_EQ(of("exp", inf), inf);
        EXPECT_EQ(of("exp", 89), inf);
        EXPECT_EQ(of("exp", -inf), 0);
        EXPECT_EQ(of("exp", 0), 1);
        EXPECT_EQ(of("log", inf), inf);
        EXPECT_EQ(of("log", 0), -inf);
        EXPECT_EQ(of("log", -0.0F), -inf);
        EXPECT_TRUE(std::isnan(of("log", -1)));
        EXPECT_TRUE(std::isnan(of("log", -inf)));
        EXPECT_EQ(of("log", 1), 0);
        EXPECT_NEAR(of("log", 1e-40F), std::log(1e-40F), 1e-4);
        EXPECT_EQ(of("tanh", inf), 1);
        EXPECT_EQ(of("tanh", -inf), -1);
        EXPECT_EQ(of("sigmoid", inf), 1);
        EXPECT_NEAR(of("sigmoid", -inf), 0, 1e-37);
        EXPECT_EQ(of("erf", inf), 1);
        EXPECT_EQ(of("erf", -inf), -1);
        EXPECT_EQ(of("softplus", inf), inf);
        EXPECT_EQ(of("gelu", inf), inf);
        EXPECT_TRUE(std::isnan(of("gelu", -inf)));
        EXPECT_NEAR(of("gelu", -1e30F), 0, 1e-30);
        EXPECT_EQ(of("gelu", 0), 0);
        EXPECT_EQ(of("relu", -inf), 0);
    }
}

TEST(TileProgram, RefusesWhatItCannotRead) {
    const Program program = Program::parse("r1=load 0; r0=add r0 r1 -> r0");
    const TensorDesc dst = desc({1, 8, 4, 4}, Layout::nhwc);
    EXPECT_EQ(TileProgram::supports(program, dst, {}, 1).reason, Reason::epilogue);
    EXPECT_EQ(TileProgram::supports(program, dst, {desc({1, 8, 4, 4})}, 1).reason, Reason::layout);
    EXPECT_EQ(TileProgram::supports(program, dst, {desc({1, 8, 4, 4}, Layout::nchw8c)}, 1).reason, Reason::layout);
    EXPECT_EQ(TileProgram::supports(program, dst, {desc({1, 8, 4, 3}, Layout::nhwc)}, 1).reason, Reason::shape);
    EXPECT_EQ(TileProgram::supports(program, dst, {{ElementType::i64, {1}, Layout::plain}}, 1).reason,
              Reason::element_type);
    EXPECT_EQ(TileProgram::supports(program, desc({2, 3, 4}), {desc({3, 1})}, 2).reason, Reason::layout);
    EXPECT_TRUE(TileProgram::supports(program, desc({2, 3, 4}), {desc({3, 1})}, 1));
}

}  // namespace
}  // namespace headway
