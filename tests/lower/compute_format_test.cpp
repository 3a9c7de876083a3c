// format.compute: bf16 where a kernel and the target can, else fp32 and a reason in the ledger.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/graph_engine.h"

namespace headway {
namespace {

using testing::catalogue;

class ComputeFormatTest : public ::testing::Test {
protected:
    // Kernels by anchor of the built plan, without reorders.
    std::map<std::string, std::string> kernels(std::string_view graph, const std::string& route,
                                               const std::string& target = "isa=avx512 bf16=1") {
        const Build built = build(testing::witness_graph(graph), {}, Route::parse(route, catalogue().knobs),
                                  Target::parse(target), catalogue());
        ledger_ = built.ledger;
        std::map<std::string, std::string> result;
        for (const Step& step : built.plan.steps)
            if (step.problem.op == "Conv" || step.problem.op == "MatMul" || step.problem.op == "Gemm")
                result[step.origins.front()] = step.kernel;
        return result;
    }
    // "reason: detail" of a candidate that was refused at a site.
    std::string refusal(std::string_view site, std::string_view candidate) const {
        std::string found;
        for (const Decision& decision : ledger_)
            if (decision.site == site && decision.candidate == candidate && !decision.taken) {
                EXPECT_EQ(found, "") << candidate << " is refused twice";
                found = decision.verdict.text();
            }
        return found;
    }

    std::vector<Decision> ledger_;
};

bool in_bf16(const std::string& kernel) { return kernel.ends_with(".avx512bf16"); }

TEST_F(ComputeFormatTest, DefaultIsFp32) {
    for (const auto& [site, kernel] : kernels("conv_chain", "")) EXPECT_FALSE(in_bf16(kernel)) << site;
    EXPECT_EQ(refusal("conv1", "conv.im2col.avx512bf16"), "knob: format.compute=fp32");
}

TEST_F(ComputeFormatTest, Bf16WhereAKernelCan) {
    auto chosen = kernels("conv_chain", "format.compute=bf16");
    EXPECT_TRUE(in_bf16(chosen["conv1"])) << chosen["conv1"];
    EXPECT_EQ(refusal("conv1", "conv.winograd4.avx512"), "knob: format.compute=bf16");
    EXPECT_FALSE(in_bf16(chosen["conv2"])) << chosen["conv2"];
    EXPECT_EQ(refusal("conv2", "format.compute=bf16"), "knob: no kernel computes in bf16 here: fp32 stands");
    EXPECT_EQ(refusal("conv2", "conv.im2col.avx512bf16"), "attribute: 32 groups of one channel (bf16 needs more)");
    EXPECT_TRUE(in_bf16(chosen["conv3"])) << chosen["conv3"];
    chosen = kernels("matmul_bias", "format.compute=bf16");
    EXPECT_TRUE(in_bf16(chosen["matmul"])) << chosen["matmul"];
}

// Winograd saves more than bf16 does.
TEST_F(ComputeFormatTest, AnyLetsTheCostModelChoose) {
    auto chosen = kernels("conv_wide", "format.compute=any");
    EXPECT_EQ(chosen["conv3x3"], "conv.winograd4.avx512");
    EXPECT_EQ(chosen["conv1x1"], "conv.gemm1x1.avx512bf16");
    EXPECT_TRUE(refusal("conv3x3", "conv.im2col.avx512bf16 nhwc").starts_with("cost: predicted "));
    chosen = kernels("conv_wide", "format.compute=any,conv.algorithm=im2col");
    EXPECT_EQ(chosen["conv3x3"], "conv.im2col.avx512bf16");
    EXPECT_FALSE(in_bf16(kernels("conv_wide", "format.compute=any", "avx512")["conv1x1"]));
}

TEST_F(ComputeFormatTest, OneSite) {
    auto chosen = kernels("conv_chain", "format.compute@conv3=bf16");
    EXPECT_FALSE(in_bf16(chosen["conv1"])) << chosen["conv1"];
    EXPECT_TRUE(in_bf16(chosen["conv3"])) << chosen["conv3"];
    chosen = kernels("conv_chain", "format.compute@conv*=bf16,format.compute@conv3=fp32");
    EXPECT_TRUE(in_bf16(chosen["conv1"])) << chosen["conv1"];
    EXPECT_FALSE(in_bf16(chosen["conv3"])) << chosen["conv3"];
}

TEST_F(ComputeFormatTest, TargetsWithoutTheInstructionsStayFp32) {
    for (const char* target : {"avx2", "avx512", "baseline"}) {
        auto chosen = kernels("conv_chain", "format.compute=bf16", target);
        EXPECT_EQ(chosen, kernels("conv_chain", "", target)) << target;
        kernels("conv_chain", "format.compute=bf16", target);
        EXPECT_EQ(refusal("conv1", "conv.im2col.avx512bf16"), "isa: this target has no bf16 arithmetic (AVX512_BF16)");
        EXPECT_EQ(refusal("conv1", "format.compute=bf16"), "knob: no kernel computes in bf16 here: fp32 stands");
    }
    for (const auto& [site, kernel] : kernels("conv_chain", "format.compute=bf16,kernel.isa=avx2"))
        EXPECT_FALSE(in_bf16(kernel)) << site;
    EXPECT_EQ(refusal("conv1", "conv.im2col.avx512bf16"), "knob: kernel.isa=avx2");
}

// The format goes first; an algorithm that has a kernel of that format is obeyed.
TEST_F(ComputeFormatTest, AndAForcedAlgorithm) {
    EXPECT_EQ(kernels("conv_chain", "format.compute=bf16,conv.algorithm=im2col")["conv3"], "conv.im2col.avx512bf16");
    EXPECT_EQ(kernels("conv_chain", "format.compute=bf16,conv.algorithm=gemm")["conv3"], "conv.gemm1x1.avx512bf16");
    auto chosen = kernels("conv_chain", "format.compute=bf16,conv.algorithm=winograd4");
    EXPECT_TRUE(in_bf16(chosen["conv1"])) << chosen["conv1"];
    EXPECT_EQ(refusal("conv1", "algorithm winograd4"),
              "conflict: no kernel of this algorithm computes in bf16 here, and format.compute goes first");
    chosen = kernels("conv_chain", "format.compute=bf16,conv.algorithm=depthwise");
    EXPECT_TRUE(chosen["conv2"].starts_with("conv.depthwise.")) << chosen["conv2"];
    EXPECT_EQ(kernels("matmul_bias", "format.compute=bf16,matmul.algorithm=gemv")["matmul"], "matmul.gemv.avx512bf16");
}

}  // namespace
}  // namespace headway
