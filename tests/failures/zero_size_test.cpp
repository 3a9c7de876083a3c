// Public failures of tensors without elements: what a reduction over nothing is, and operators that only shapes go
// through.
#include <cmath>

#include "everywhere.h"

namespace headway::testing {
namespace {

constexpr double inf = HUGE_VAL;

// G40: the neutral element of each operation, along the empty axis and along all.
TEST(ReductionOfNothing, IsTheNeutralElement) {
    const double nan = std::nan("");
    for (const auto& [op, neutral] : std::vector<std::pair<std::string, double>>{{"ReduceMax", -inf},
                                                                                 {"ReduceMin", inf},
                                                                                 {"ReduceSum", 0},
                                                                                 {"ReduceProd", 1},
                                                                                 {"ReduceL1", 0},
                                                                                 {"ReduceL2", 0},
                                                                                 {"ReduceSumSquare", 0},
                                                                                 {"ReduceLogSum", -inf},
                                                                                 {"ReduceLogSumExp", -inf},
                                                                                 {"ReduceMean", nan}})
        for (const int64_t keepdims : {0, 1}) {
            const NamedAttributes attributes{{"keepdims", keepdims}};
            const Tensor x = f32({0, 3}, {}), y = f32({2, 0, 3}, {});
            const std::vector<double> three(3, neutral), six(6, neutral);
            expect_everywhere(NodeCase{op, 20, {x, i64({0})}, attributes},
                              {{keepdims != 0 ? Shape{1, 3} : Shape{3}, three}});
            expect_everywhere(NodeCase{op, 20, {y, i64({1})}, attributes},
                              {{keepdims != 0 ? Shape{2, 1, 3} : Shape{2, 3}, six}});
            expect_everywhere(NodeCase{op, 20, {y}, attributes},
                              {{keepdims != 0 ? Shape{1, 1, 1} : Shape{}, {neutral}}});
            // An axis beside the empty one: nothing is left of anything.
            expect_everywhere(NodeCase{op, 20, {x, i64({1})}, attributes},
                              {{keepdims != 0 ? Shape{0, 1} : Shape{0}, {}}});
        }
    for (const ElementType type : {ElementType::i32, ElementType::i64, ElementType::u8}) {
        const Tensor x(type, {0, 2});
        const double low = type == ElementType::u8    ? 0
                           : type == ElementType::i32 ? -2147483648.0
                                                      : -9223372036854775808.0;
        expect_everywhere(NodeCase{"ReduceMax", 20, {x, i64({0})}, {{"keepdims", int64_t{0}}}}, {{{2}, {low, low}}}, 0);
    }
}

// G46: no box is asked for, or the number is left out.
TEST(NonMaxSuppression, OfNoBoxesIsEmpty) {
    const Tensor boxes = f32({1, 2, 4}, {0, 0, 1, 1, 0, 0, 2, 2}), scores = f32({1, 1, 2}, {0.9F, 0.8F});
    for (const Tensor& most : {Tensor(), i64(Shape{}, {0}), i64(Shape{1}, {0})})
        expect_interpreted(
            std::string("graph { input %b: f32[1,2,4] input %s: f32[1,1,2] ") +
                (most.type() == ElementType::undefined ? "%y = NonMaxSuppression(%b, %s) output %y }"
                 : most.shape().rank() == 0 ? "const %m: i64[] = {0} %y = NonMaxSuppression(%b, %s, %m) output %y }"
                                            : "const %m: i64[1] = {0} %y = NonMaxSuppression(%b, %s, %m) output %y }"),
            {boxes, scores}, {{{0, 3}, {}}});
    const Tensor none = f32({1, 0, 4}, {}), nobody = f32({1, 1, 0}, {});
    expect_interpreted(
        "graph { input %b: f32[1,0,4] input %s: f32[1,1,0] const %m: i64[] = {5} "
        "%y = NonMaxSuppression(%b, %s, %m) output %y }",
        {none, nobody}, {{{0, 3}, {}}});
}

// G50: an extent that becomes zero, and arithmetic on tensors that have one.
TEST(EmptyTensors, GoThroughEverything) {
    expect_everywhere(NodeCase{"Tile", 13, {ramp({4}), i64({0})}}, {{{0}, {}}}, 0);
    expect_everywhere(NodeCase{"Tile", 13, {ramp({2, 3}), i64({2, 0})}}, {{{4, 0}, {}}}, 0);
    expect_everywhere(NodeCase{"Tile", 13, {f32({0, 3}, {}), i64({3, 2})}}, {{{0, 6}, {}}}, 0);
    for (const char* op : {"Add", "Mul", "Div", "Max", "Pow"}) {
        expect_everywhere(NodeCase{op, 13, {f32({0}, {}), f32({}, {2})}}, {{{0}, {}}}, 0);
        expect_everywhere(NodeCase{op, 13, {f32({2, 0}, {}), f32({1}, {2})}}, {{{2, 0}, {}}}, 0);
        expect_everywhere(NodeCase{op, 13, {f32({0, 3}, {}), ramp({3}, 1)}, {}, 1, 2}, {{{0, 3}, {}}}, 0);
        expect_everywhere(NodeCase{op, 13, {f32({3, 0}, {}), ramp({3, 1}, 1)}, {}, 1, 2}, {{{3, 0}, {}}}, 0);
    }
    // A whole net of them: convolution, products, normalisation, movement.
    expect_everywhere(R"(graph {
        input %x: f32[0,3,5,5]
        const %w: f32[17,3,3,3] = random(1)
        const %b: f32[17] = random(2)
        const %s: f32[17] = fill(1)
        const %m: f32[425,4] = random(3)
        const %c: f32[4] = random(4)
        const %shape: i64[2] = {0,425}
        %p = Conv(%x, %w, %b) {pads=[1,1,1,1]}
        %n = BatchNormalization:15(%p, %s, %b, %b, %s)
        %r = Relu(%n)
        %q = MaxPool(%r) {kernel_shape=[3,3], pads=[1,1,1,1]}
        %t = Transpose(%q) {perm=[0,2,3,1]}
        %f = Reshape(%t, %shape) {allowzero=1}
        %g = MatMul(%f, %m)
        %h = Add(%g, %c)
        %y = Softmax(%h)
        %j = Concat(%y, %y) {axis=0}
        output %y
        output %j
    })",
                      {f32({0, 3, 5, 5}, {})}, {{{0, 4}, {}}, {{0, 4}, {}}}, 0);
    // Products over an inner axis without elements are zero.
    for (const int64_t rows : {1, 2, 5})
        expect_everywhere(
            NodeCase{"MatMul", 13, {Tensor(ElementType::f32, {rows, 0}), Tensor(ElementType::f32, {0, 3})}, {}, 1, 2},
            {{{rows, 3}, std::vector<double>(static_cast<size_t>(3 * rows), 0)}}, 0);
    expect_everywhere(
        NodeCase{"Gemm", 13, {Tensor(ElementType::f32, {2, 0}), Tensor(ElementType::f32, {0, 3}), ramp({3}, 1)}},
        {{{2, 3}, {1, 2, 3, 1, 2, 3}}}, 0);
}

}  // namespace
}  // namespace headway::testing
