#include "ops/work.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace headway {
namespace {

int64_t work(const char* op, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs,
             const char* domain = "") {
    Node node;
    node.op = op;
    node.domain = domain;
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
    EXPECT_GE(work("Einsum", {{100}, {100}, {100}}, {{}}), 300);
    EXPECT_GE(work("NonMaxSuppression", {{1, 50, 4}, {1, 2, 50}}, {}), 2 * 50 * 50);
    EXPECT_GE(work("Attention", {{1, 1, 64, 8}, {1, 1, 64, 8}, {1, 1, 64, 8}}, {{1, 1, 64, 8}}), 2 * 64 * 64 * 8);
    EXPECT_GE(work("AnyThing", {{100}}, {{100}}, "com.example"), 100 * 100) << "nothing is known of it";
}

TEST(Work, SaysTheMostWhereItDoesNotFit) {
    const Shape large{int64_t{1} << 40};
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
