// Public failures of computing at build time: other results than at run time, results that are too large, views that
// outlive their bytes, values that a caller may replace.
#include <cmath>

#include "everywhere.h"
#include "graph/text.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

// G6: each of two constants goes with its own operand, in every order and with the same names of hints.
TEST(Folding, KeepsScalarConstantsApart) {
    const Tensor x = ramp({5}, -2), y = ramp({5}, 3, 2);
    for (const char* body : {"%p = Div(%x, %two) %q = Mul(%y, %four) %z = Add(%p, %q)",
                             "%p = Mul(%two, %x) %q = Div(%y, %four) %z = Sub(%p, %q)",
                             "%p = Sub(%two, %x) %q = Sub(%y, %four) %z = Mul(%p, %q)"}) {
        const std::string text(body);
        const std::vector<double> want = numbers(5, [&](int64_t i) {
            const double a = x.at(i), b = y.at(i);
            return text.starts_with("%p = Div")   ? a / 2 + b * 4
                   : text.starts_with("%p = Mul") ? 2 * a - b / 4
                                                  : (2 - a) * (b - 4);
        });
        expect_everywhere(
            "graph { input %x: f32[5] input %y: f32[5] const %two: f32[] = {2} const %four: f32[] = {4} " + text +
                " output %z }",
            {x, y}, {{{5}, want}});
    }
}

// G14: an initialiser that is an input too is a default, which a caller may replace: then nothing of it is folded.
TEST(Folding, LeavesWhatACallerFeeds) {
    const std::string text =
        "graph { input %x: f32[3] input %w: f32[3] const %two: f32[3] = fill(2) %v = Mul(%w, %two) %y = Add(%x, %v) "
        "output %y }";
    const Tensor x = ramp({3}), w = ramp({3}, 10);
    expect_everywhere(text, {x, w}, {{{3}, {20, 23, 26}}}, 0);
}

// G16: a small model must not become a large engine; the result is right under every limit.
TEST(Folding, KeepsToItsBudget) {
    const std::string text = R"(graph {
        input %x: f32[64,1024]
        const %row: f32[1,1024] = random(1)
        const %repeats: i64[2] = {4096,1}
        const %starts: i64[1] = {0}
        const %ends: i64[1] = {64}
        %t = Tile(%row, %repeats)
        %s = Slice(%t, %starts, %ends)
        %y = Sub(%x, %s)
        output %y
    })";
    const auto bytes = [&](const std::string& route) {
        const Build built =
            build(parse_graph(text), {}, Route::parse(route, catalogue().knobs), Target::native(), catalogue());
        size_t sum = 0;
        for (const auto& constant : built.plan.constants) sum += constant.bytes.size_bytes();
        return sum;
    };
    // Four megabytes of zeros on top of a kilobyte are refused where the budget is one megabyte.
    EXPECT_LT(bytes("fold_constants.max_mb=1"), size_t{1} << 20);
    const Tensor x =
        run_op("Tile", 13, {random_tensor(ElementType::f32, {1, 1024}, 1, 1.0 / std::sqrt(1024)), i64({64, 1})})[0];
    for (const char* route : {"", "fold_constants.max_mb=1", "fold_constants.max_mb=0,rewrite_slice_chain=off"}) {
        const Plan plan =
            build(parse_graph(text), {}, Route::parse(route, catalogue().knobs), Target::native(), catalogue()).plan;
        const Tensor y = run_engine(plan, Target::native(), {x})[0];
        const Tensor want = interpret(parse_graph(text), std::vector<Tensor>{x}, catalogue().ops)[0];
        EXPECT_EQ(y.hash(), want.hash()) << route;
    }
}

// G17: shapes and conditions on them fold under every limit and in every opset, so that the branch is taken.
TEST(Folding, FollowsSmallIntegerChains) {
    for (const char* version : {":12", ":16"})
        for (const int64_t limit : {2, 3, 9}) {
            const std::string text =
                std::string("graph { input %x: f32[2,3] const %i: i64[] = {1} const %l: i64[] = {") +
                std::to_string(limit) + "} %s = Shape(%x) %d = Gather(%s, %i) %c = GreaterOrEqual" + version +
                "(%d, %l) %y: f32[2,3] = If(%c) {then_branch=graph { %a = Neg(%x) output %a }, "
                "else_branch=graph { %b = Abs(%x) output %b }} output %y }";
            const Tensor x = ramp({2, 3}, 1);
            const double sign = limit <= 3 ? -1 : 1;
            expect_everywhere(text, {x}, {{{2, 3}, numbers(6, [&](int64_t i) { return sign * x.at(i); })}}, 0);
        }
}

// G18: constants that are only looked at under other shapes own their bytes after the graph is gone.
TEST(Folding, OwnsTheBytesOfViews) {
    Plan plan;
    {
        const Graph graph = parse_graph(R"(graph {
            input %x: f32[2,3]
            const %c: f32[6] = {1,2,3,4,5,6}
            const %shape: i64[3] = {1,2,3}
            const %axes: i64[1] = {0}
            %r = Reshape(%c, %shape)
            %s = Squeeze(%r, %axes)
            %t = Identity(%s)
            %y = Add(%x, %t)
            output %y
            output %t
        })");
        plan = build(graph, {}, {}, Target::native(), catalogue()).plan;
    }
    // Memory that was given back is taken again by others.
    const std::vector<Tensor> others(64, run_op("Add", 13, {ramp({6}, 100), ramp({6})})[0]);
    const std::vector<Tensor> got = run_engine(plan, Target::native(), {ramp({2, 3})});
    expect_values(got[0], {2, 3}, {1, 3, 5, 7, 9, 11});
    expect_values(got[1], {2, 3}, {1, 2, 3, 4, 5, 6});
}

// G19: outputs that nobody names, first, last and in the middle, of operators with several.
TEST(Folding, SkipsAbsentOutputs) {
    const Tensor x = f32({6}, {2, 1, 1, 3, 4, 3});
    expect_interpreted("graph { input %x: f32[6] %u, _, _, %n = Unique(%x) output %u output %n }", {x},
                       {{{4}, {1, 2, 3, 4}}, {{4}, {2, 1, 2, 1}}}, 0);
    const std::vector<std::string> constants{
        "graph { const %x: f32[6] = {2,1,1,3,4,3} %u, _, _, %n = Unique(%x) output %u output %n }"};
    expect_everywhere(constants[0], {}, {{{4}, {1, 2, 3, 4}}, {{4}, {2, 1, 2, 1}}}, 0);
    const std::vector<std::vector<double>> parts{{2, 1}, {1, 3}, {4, 3}};
    for (size_t mask = 1; mask < 8; ++mask) {
        std::string left, outputs;
        std::vector<Expected> want;
        for (size_t k = 0; k < 3; ++k) {
            const std::string name = "%p" + std::to_string(k);
            left += (k > 0 ? ", " : "") + ((mask >> k & 1) != 0 ? name : std::string("_"));
            if ((mask >> k & 1) == 0) continue;
            outputs += " output " + name;
            want.push_back({{2}, parts[k]});
        }
        expect_everywhere("graph { input %x: f32[6] const %s: i64[3] = {2,2,2} " + left + " = Split(%x, %s) {axis=0}" +
                              outputs + " }",
                          {x}, want, 0);
    }
}

// G41: the sign of the remainder follows the divisor, with fmod the dividend, when folded as at run time.
TEST(Folding, TakesTheRemainderOfTheRuntime) {
    for (const ElementType type : {ElementType::i32, ElementType::i64, ElementType::i8}) {
        const Tensor a = of_type(type, {4}, {-5, 5, -5, 5}), b = of_type(type, {4}, {3, -3, -3, 3});
        expect_everywhere(NodeCase{"Mod", 13, {a, b}, {}, 1, 2}, {{{4}, {1, -1, -2, 2}}}, 0);
        expect_everywhere(NodeCase{"Mod", 13, {a, b}, {{"fmod", int64_t{1}}}, 1, 2}, {{{4}, {-2, 2, -2, 2}}}, 0);
    }
    expect_everywhere(
        NodeCase{"Mod", 13, {f32({4}, {-5.5, 5.5, -5.5, 5.5}), f32({4}, {3, -3, -3, 3})}, {{"fmod", int64_t{1}}}, 1, 2},
        {{{4}, {-2.5, 2.5, -2.5, 2.5}}}, 0);
}

}  // namespace
}  // namespace headway::testing
