#include "ops/work.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace headway {
namespace {

int64_t work(const char* op, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
    Node node;
    node.op = op;
    std::vector<const Shape*> in, out;
    for (const Shape& shape : inputs) in.push_back(&shape);
    for (const Shape& shape : outputs) out.push_back(&shape);
    return reference_work(node, in, out);
}

// Never less than the multiply-adds counted by hand, and for products not much more.
TEST(Work, BoundsWhatIsComputed) {
    EXPECT_EQ(work("Add", {{2, 3}, {3}}, {{2, 3}}), 6 + 3 + 6);
    EXPECT_EQ(work("MatMul", {{5, 7}, {7, 3}}, {{5, 3}}), 5 * 7 * 3 + 35 + 21 + 15);
    EXPECT_GE(work("Gemm", {{7, 5}, {7, 3}}, {{5, 3}}), 5 * 7 * 3);  // transposed
    EXPECT_EQ(work("Conv", {{1, 2, 9, 9}, {4, 2, 3, 3}}, {{1, 4, 7, 7}}), 4 * 49 * 2 * 9 + 162 + 72 + 196);
    EXPECT_GE(work("Attention", {{1, 1, 64, 8}, {1, 1, 64, 8}, {1, 1, 64, 8}}, {{1, 1, 64, 8}}), 2 * 64 * 64 * 8);
}

// What models hold is far from the limit of a call: an image resized, a few hundred thousand boxes of a detector.
TEST(Work, IsCloseForWhatModelsHold) {
    EXPECT_LE(work("Resize", {{1, 3, 640, 640}, {}, {4}}, {{1, 3, 1280, 1280}}), 16 * 5 * 3 * 640 * 640 * 2);
    EXPECT_LE(work("MaxPool", {{1, 64, 112, 112}}, {{1, 64, 56, 56}}), 2 * 64 * 112 * 112);
    EXPECT_LE(work("LSTM", {{128, 1, 64}, {1, 256, 64}, {1, 256, 64}}, {{128, 1, 1, 64}}), 2 * 128 * 256 * 128);
    EXPECT_LE(work("ConvTranspose", {{1, 8, 50, 50}, {8, 4, 2, 2}}, {{1, 4, 100, 100}}), 3 * 8 * 2500 * 4 * 4);
    EXPECT_LE(work("Attention", {{1, 12, 512, 64}, {1, 12, 512, 64}, {1, 12, 512, 64}}, {{1, 12, 512, 64}}),
              20LL * 12 * 512 * 512 * 64);
    EXPECT_LE(work("STFT", {{1, 480000, 1}, {}, {400}}, {{1, 4798, 201, 2}}), 3LL * 4798 * 201 * 400);
    EXPECT_LE(work("MatMulNBits", {{1, 1, 4096}, {128000, 128, 16}, {128000, 128}}, {{1, 1, 128000}}),
              2LL * 4096 * 128000);
}

TEST(Work, OfAnEinsumIsItsWalk) {
    Node node;
    node.op = "Einsum";
    node.attributes.set("equation", std::string("bij,bkj->bik"));
    const Shape a{2, 3, 5}, b{2, 7, 5}, y{2, 3, 7};
    const std::vector<const Shape*> in{&a, &b}, out{&y};
    EXPECT_EQ(reference_work(node, in, out), 3 * (2 * 3 * 5 * 7) + 30 + 70 + 42);
}

// The operands' own shapes say nothing of heads and keys.
TEST(Work, OfAStridedAttentionFollowsItsExtents) {
    Node node;
    node.op = "StridedAttention";
    node.attributes.set("batch", std::vector<int64_t>{2, 3});
    node.attributes.set("extents", std::vector<int64_t>{5, 7, 4, 6});
    const Shape q{120}, k{168}, v{252}, y{180};
    const std::vector<const Shape*> in{&q, &k, &v}, out{&y};
    EXPECT_EQ(reference_work(node, in, out), 2 * 3 * 5 * 7 * (4 + 6) + 120 + 168 + 252 + 180);
}

TEST(Work, SaysTheMostWhereItDoesNotFit) {
    const Shape large{1, int64_t{1} << 40, 1};
    EXPECT_EQ(work("DFT", {large}, {large}), std::numeric_limits<int64_t>::max());
}

TEST(Work, AbsentOperandsCountNothing) {
    Node node;
    node.op = "Clip";
    const Shape shape{4};
    const std::vector<const Shape*> in{&shape, nullptr, nullptr}, out{&shape};
    EXPECT_EQ(reference_work(node, in, out), 8);
}

}  // namespace
}  // namespace headway
