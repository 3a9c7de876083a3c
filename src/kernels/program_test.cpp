#include "kernels/program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace headway {
namespace {

double run(std::string_view text, double anchor, std::vector<double> operands = {}) {
    double result = 0;
    evaluate(Program::parse(text), anchor, operands.data(), &result);
    return result;
}

TEST(Program, TextAndParseAreInverse) {
    for (const char* text : {"-> r0", "r1=load 0; r0=add r0 r1; r0=clip r0 0 6 -> r0",
                             "r0=load 0; r1=load 3; r2=imm 0.1; r2=mul r1 r2; r0=pow_imm r0 -0.5 -> r0 r2",
                             "r0=clip r0 -inf inf -> r0", "r0=hard_sigmoid r0 0.16666667 0.5; r15=neg r0 -> r15"})
        EXPECT_EQ(Program::parse(text).text(), text);
    const Program program = Program::parse("r0=load 0; r1=load 3; r2=imm 0.1 -> r0 r2");
    EXPECT_EQ(program.operands, 4);
    EXPECT_EQ(program.registers, 3);
    EXPECT_EQ(program.results, (std::vector<uint8_t>{0, 2}));
}

TEST(Program, EveryOpcodeReadsBack) {
    for (int op = 0; op <= static_cast<int>(Opcode::bf16_round); ++op)
        EXPECT_EQ(opcode_from_string(to_string(static_cast<Opcode>(op))), static_cast<Opcode>(op));
}

TEST(Program, BrokenTextIsRefused) {
    for (const char* text :
         {"", "r0=add r0 r1", "r0=add r0 r1 -> r0", "r16=neg r0 -> r0", "r0=neg -> r0", "-> ", "-> r3",
          "r0=neg r0 r0 -> r0", "r0=load 256 -> r0", "r0=load -1 -> r0", "r0=clip r0 1 -> r0", "r0=clip r0 a b -> r0",
          "r0 neg r0 -> r0", "x0=neg r0 -> r0", "r0=nag r0 -> r0", "; -> r0"})
        EXPECT_THROW(Program::parse(text), UserError) << text;
}

TEST(Program, EvaluatesByDefinition) {
    EXPECT_DOUBLE_EQ(run("r1=load 0; r0=sub r1 r0 -> r0", 2, {5}), 3);
    EXPECT_DOUBLE_EQ(run("r0=hard_swish r0 -> r0", 1), 4.0 / 6);
    EXPECT_DOUBLE_EQ(run("r0=hard_sigmoid r0 0.25 0.5 -> r0", 1), 0.75);
    EXPECT_DOUBLE_EQ(run("r0=leaky_relu r0 0.5 -> r0", -4), -2);
    EXPECT_DOUBLE_EQ(run("r0=round r0 -> r0", 2.5), 2);
    EXPECT_DOUBLE_EQ(run("r0=mul_add r0 3 4 -> r0", 2), 10);
    EXPECT_DOUBLE_EQ(run("r0=bf16_round r0 -> r0", 1.00390625), 1.0);
}

TEST(Program, NanPropagates) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const char* text : {"r0=relu r0 -> r0", "r0=clip r0 0 6 -> r0", "r1=imm 0; r0=max r0 r1 -> r0",
                             "r1=imm 0; r0=max r1 r0 -> r0", "r1=imm 0; r0=min r1 r0 -> r0", "r0=hard_swish r0 -> r0"})
        EXPECT_TRUE(std::isnan(run(text, nan))) << text;
}

}  // namespace
}  // namespace headway
