// Public failures of sub-graphs: what a branch or body keeps, captures and gives back. Loop and Scan run by the
// interpreter only: no engine holds them.
#include "everywhere.h"
#include "graph/text.h"

namespace headway::testing {
namespace {

Tensor truth(bool value) { return Tensor::scalar(value); }

// G10: a condition that the body makes of constants stays an output of the body; so does one computed from them.
TEST(LoopBody, KeepsAConstantCondition) {
    for (const char* condition :
         {"const %on: bool[] = {1} %c2 = Identity(%on)", "const %off: bool[] = {0} %c2 = Not(%off)",
          "const %a: i64[] = {1} const %b: i64[] = {2} %c2 = Less(%a, %b)"})
        expect_interpreted(
            std::string("graph { input %n: i64[] input %x: f32[1] const %go: bool[] = {1} "
                        "%y = Loop:13(%n, %go, %x) {body=graph { input %i: i64[] input %c: bool[] input %v: f32[1] ") +
                condition + " %w = Add(%v, %v) output %c2 output %w }} output %y }",
            {Tensor::scalar(int64_t{3}), f32({1}, {1})}, {{{1}, {8}}}, 0);
}

// G11, G12: a branch that is taken brings its own constants, whatever names they share with the graph around it, and
// reads outer values at any depth.
TEST(Branch, BringsItsConstantsAndReadsOuterOnes) {
    const Tensor x = f32({2}, {1, 2});
    for (const bool taken : {true, false})
        expect_everywhere(
            std::string("graph { input %x: f32[2] const %w: f32[2] = {10,20} const %go: bool[] = {") +
                (taken ? "1" : "0") +
                "} %y: f32[2] = If(%go) {then_branch=graph { const %v: f32[2] = {1,1} %a = Add(%x, %v) output %a }, "
                "else_branch=graph { const %v: f32[2] = {5,5} %a = Mul(%w, %v) output %a }} %z = Add(%y, %w) output %z "
                "output %y }",
            {x},
            {{{2}, taken ? std::vector<double>{12, 23} : std::vector<double>{60, 120}},
             {{2}, taken ? std::vector<double>{2, 3} : std::vector<double>{50, 100}}},
            0);
    for (const bool outer : {true, false})
        for (const bool inner : {true, false}) {
            const std::string words = std::string("const %p: bool[] = {") + (outer ? "1" : "0") +
                                      "} const %q: bool[] = {" + (inner ? "1" : "0") + "}";
            const double factor = outer ? (inner ? 10 : 3) : 2;
            expect_everywhere("graph { input %x: f32[2] const %w: f32[] = {10} " + words +
                                  " %y: f32[2] = If(%p) {then_branch=graph { const %u: f32[] = {3} %a: f32[2] = If(%q) "
                                  "{then_branch=graph { %b = Mul(%x, %w) output %b }, "
                                  "else_branch=graph { %b = Mul(%x, %u) output %b }} output %a }, else_branch=graph { "
                                  "%b = Add(%x, %x) output %b }} output %y }",
                              {x}, {{{2}, {factor, 2 * factor}}}, 0);
        }
}

// G11: the output of a branch may be an outer value or a constant as it is.
TEST(Branch, MayGiveBackWhatItReads) {
    const Tensor x = f32({2}, {1, 2});
    for (const bool taken : {true, false})
        expect_everywhere(std::string("graph { input %x: f32[2] const %go: bool[] = {") + (taken ? "1" : "0") +
                              "} %y: f32[2] = If(%go) {then_branch=graph { output %x }, else_branch=graph { const %k: "
                              "f32[2] = {7,8} output %k }} "
                              "%z = Neg(%y) output %y output %z output %x }",
                          {x},
                          {{{2}, taken ? std::vector<double>{1, 2} : std::vector<double>{7, 8}},
                           {{2}, taken ? std::vector<double>{-1, -2} : std::vector<double>{-7, -8}},
                           {{2}, {1, 2}}},
                          0);
}

// G12: a loop's body reads outer constants and computed values, two graphs further out.
TEST(LoopBody, ReadsOuterValuesAtAnyDepth) {
    expect_interpreted(R"(graph {
        input %n: i64[]
        input %x: f32[1]
        const %w: f32[1] = {10}
        %d = Add(%x, %w)
        %y = Loop:13(%n, _, %x) {body=graph {
            input %i: i64[]
            input %c: bool[]
            input %v: f32[1]
            %big = Greater(%v, %w)
            %next = If(%big) {then_branch=graph { %t = Sub(%v, %w) output %t }, else_branch=graph { %t = Add(%v, %d) output %t }}
            output %c
            output %next
        }}
        output %y
    })",
                       {Tensor::scalar(int64_t{3}), f32({1}, {1})}, {{{1}, {13}}}, 0);
}

// G13: what the loop counts and the state it carries may be outputs of the body as they are; each step has its own.
TEST(LoopBody, MayGiveBackItsInputs) {
    for (const int64_t count : {1, 3, 5}) {
        const std::vector<double> numbers_so_far = numbers(count, [](int64_t i) { return static_cast<double>(i); });
        const std::vector<double> same(static_cast<size_t>(count), 7);
        expect_interpreted(R"(graph {
            input %n: i64[]
            input %x: f32[1]
            %last, %all, %states = Loop:13(%n, _, %x) {body=graph {
                input %i: i64[]
                input %c: bool[]
                input %v: f32[1]
                output %c
                output %v
                output %i
                output %v
            }}
            output %last
            output %all
            output %states
        })",
                           {Tensor::scalar(count), f32({1}, {7})},
                           {{{1}, {7}}, {{count}, numbers_so_far}, {{count, 1}, same}}, 0);
    }
}

constexpr const char* running_sum = R"(graph {
    input %s: f32[2]
    input %x: f32[?,2]
    const %one: f32[2] = {1,1}
    %total, %sums, %squares = Scan:11(%s, %x) {num_scan_inputs=1, body=graph {
        input %a: f32[2]
        input %b: f32[2]
        %u = Mul(%b, %one)
        %sum = Add(%a, %u)
        %square = Mul(%u, %u)
        output %sum
        output %sum
        output %square
    }}
    output %total
    output %sums
    output %squares
})";

// G81: one scanned input, two scanned outputs, an outer constant; without steps the outputs are empty or it is an
// error.
TEST(Scan, HasMoreOutputsThanInputs) {
    expect_interpreted(running_sum, {f32({2}, {10, 20}), ramp({3, 2}, 1)},
                       {{{2}, {19, 32}}, {{3, 2}, {11, 22, 14, 26, 19, 32}}, {{3, 2}, {1, 4, 9, 16, 25, 36}}}, 0);
    try {
        expect_interpreted(running_sum, {f32({2}, {10, 20}), f32({0, 2}, {})},
                           {{{2}, {10, 20}}, {{0, 2}, {}}, {{0, 2}, {}}}, 0);
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("Scan"), std::string::npos) << error.what();
    }
}

std::vector<Tensor> interpreted(const std::string& text, const std::vector<Tensor>& inputs) {
    return interpret(parse_graph(text), inputs, catalogue().ops);
}

// G82: a body with other numbers of inputs and outputs than the node says.
TEST(LoopBody, OfOtherCountsIsRefused) {
    const std::vector<Tensor> inputs{Tensor::scalar(int64_t{2}), f32({1}, {1})};
    for (const char* body :
         {"input %i: i64[] input %c: bool[] output %c output %c",
          "input %i: i64[] input %c: bool[] input %v: f32[1] input %w: f32[1] output %c output %v",
          "input %i: i64[] output %i output %i", "input %i: i64[] input %c: bool[] input %v: f32[1] output %c"})
        EXPECT_THROW(
            interpreted(std::string("graph { input %n: i64[] input %x: f32[1] %y = Loop:13(%n, _, %x) {body=graph { ") +
                            body + " }} output %y }",
                        inputs),
            UserError)
            << body;
}

// G83: numbers of scanned inputs that the node does not have.
TEST(Scan, RefusesAnImpossibleNumberOfInputs) {
    for (const char* count : {"5", "-1", "3", "0", "9223372036854775807", "-9223372036854775808"})
        EXPECT_THROW(
            interpreted(
                std::string("graph { input %s: f32[2] input %x: f32[3,2] %y, %z = Scan:11(%s, %x) {num_scan_inputs=") +
                    count +
                    ", body=graph { input %a: f32[2] input %b: f32[2] %u = Add(%a, %b) output %u output %u }} output "
                    "%y output %z }",
                {f32({2}, {0, 0}), ramp({3, 2})}),
            UserError)
            << count;
}

// G56: branches that give other extents: the one that is taken decides.
TEST(Branch, MayHaveAnotherShapeThanItsSibling) {
    for (const bool taken : {true, false})
        expect_everywhere(std::string("graph { input %x: f32[2,3] const %axes: i64[1] = {0} const %go: bool[] = {") +
                              (taken ? "1" : "0") +
                              "} %y: f32 = If(%go) {then_branch=graph { %a = ReduceSum(%x) {keepdims=0} output %a }, "
                              "else_branch=graph { %b = Unsqueeze(%x, %axes) output %b }} %z = Neg(%y) output %z }",
                          {ramp({2, 3})}, {taken ? Expected{{}, {-15}} : Expected{{1, 2, 3}, {0, -1, -2, -3, -4, -5}}},
                          0);
}

}  // namespace
}  // namespace headway::testing
