// Loop and Scan by hand-computed values, and what they refuse. Sequences in loops stand in sequence_test.cpp.
#include "graph/text.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

std::vector<Tensor> run(const std::string& text, const std::vector<Tensor>& inputs) {
    return interpret(parse_graph(text), inputs, declared<Op>());
}

Tensor truth(bool value) { return Tensor::scalar(value); }

constexpr const char* counted_loop = R"(graph {
    input %n: i64[]
    input %go: bool[]
    input %start: f32[1]
    input %step: f32[1]
    input %limit: f32[1]
    %unused = Add(%step, %step)
    %total, %all = Loop:13(%n, %go, %start) {body=graph {
        input %i: i64[]
        input %c: bool[1]
        input %sum: f32[1]
        %next = Add(%sum, %step)
        %on = Less(%next, %limit)
        output %on
        output %next
        output %i
    }}
    output %total
    output %all
})";

TEST(Loop, CarriesValuesReadsOuterOnesAndStacksSlices) {
    const auto y =
        run(counted_loop, {Tensor::scalar(int64_t{3}), truth(true), f32({1}, {1}), f32({1}, {2}), f32({1}, {99})});
    expect_values(y[0], {1}, {7});
    expect_values(y[1], {3}, {0, 1, 2});
}

TEST(Loop, EndsWhenTheConditionOfItsBodyFails) {
    const auto y =
        run(counted_loop, {Tensor::scalar(int64_t{9}), truth(true), f32({1}, {1}), f32({1}, {2}), f32({1}, {4})});
    expect_values(y[0], {1}, {5});
    expect_values(y[1], {2}, {0, 1});
}

TEST(Loop, ZeroIterationsKeepTheStateButHaveNoScanOutput) {
    const std::vector<Tensor> never{Tensor::scalar(int64_t{9}), truth(false), f32({1}, {1}), f32({1}, {2}),
                                    f32({1}, {4})};
    EXPECT_THROW(run(counted_loop, never), Unsupported);
    const auto y = run(R"(graph {
        input %n: i64[]
        input %x: f32[1]
        %y = Loop:13(%n, _, %x) {body=graph {
            input %i: i64[]
            input %c: bool[]
            input %a: f32[1]
            %b = Neg(%a)
            output %c
            output %b
        }}
        output %y
    })",
                       {Tensor::scalar(int64_t{0}), f32({1}, {5})});
    expect_values(y[0], {1}, {5});
}

// ONNX says that the body's condition is ignored where the loop has none, and runtimes obey it.
TEST(Loop, ABodyThatEndsALoopWithoutConditionIsRefused) {
    const std::string text = R"(graph {
        input %n: i64[]
        input %on: bool[]
        input %x: f32[1]
        %y = Loop:13(%n, _, %x) {body=graph {
            input %i: i64[]
            input %c: bool[]
            input %a: f32[1]
            %b = Neg(%a)
            output %on
            output %b
        }}
        output %y
    })";
    const Tensor x = f32({1}, {5});
    expect_values(run(text, {Tensor::scalar(int64_t{3}), truth(true), x})[0], {1}, {-5});
    expect_values(run(text, {Tensor::scalar(int64_t{1}), truth(false), x})[0], {1}, {-5});
    EXPECT_THROW(run(text, {Tensor::scalar(int64_t{3}), truth(false), x}), Unsupported);
}

TEST(Loop, ABodyWithOtherNumbersOfValuesIsRefused) {
    EXPECT_THROW(run(R"(graph {
        input %n: i64[]
        input %x: f32[1]
        %y = Loop:13(%n, _, %x) {body=graph {
            input %i: i64[]
            input %c: bool[]
            output %c
            output %c
        }}
        output %y
    })",
                     {Tensor::scalar(int64_t{1}), f32({1}, {5})}),
                 UserError);
}

TEST(Interpret, NothingIsFreedBeforeASubGraphReadsIt) {
    const auto y = run(R"(graph {
        input %c: bool[]
        input %x: f32[1]
        %a = Add(%x, %x)
        %b = If(%c) {then_branch=graph { %n = Neg(%x) output %n }, else_branch=graph { output %x }}
        output %a
        output %b
    })",
                       {truth(true), f32({1}, {5})});
    expect_values(y[1], {1}, {-5});
}

// The state is the running sum; scanned along axis 1 from behind, joined along the last axis with the first slice last.
TEST(Scan, TakesAxesAndDirections) {
    const auto y = run(R"(graph {
        input %s: f32[2]
        input %x: f32[2,3]
        %last, %all = Scan:11(%s, %x) {num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1],
                                       scan_output_axes=[-1], scan_output_directions=[1], body=graph {
            input %a: f32[2]
            input %b: f32[2]
            %sum = Add(%a, %b)
            output %sum
            output %sum
        }}
        output %last
        output %all
    })",
                       {f32({2}, {0, 10}), ramp({2, 3}, 1)});
    expect_values(y[0], {2}, {6, 25});
    expect_values(y[1], {2, 3}, {6, 5, 3, 25, 21, 16});
}

constexpr const char* batched_scan = R"(graph {
    input %lengths: i64[2]
    input %s: f32[2,1]
    input %x: f32[2,3,1]
    %last, %all = Scan:8(%lengths, %s, %x) {num_scan_inputs=1, directions=[1], body=graph {
        input %a: f32[1]
        input %b: f32[1]
        %sum = Add(%a, %b)
        output %sum
        output %sum
    }}
    output %last
    output %all
})";

TEST(Scan, Opset8RunsEachSequenceOfABatch) {
    const auto y = run(batched_scan, {i64({3, 3}), f32({2, 1}, {0, 10}), ramp({2, 3, 1}, 1)});
    expect_values(y[0], {2, 1}, {6, 25});
    expect_values(y[1], {2, 3, 1}, {3, 5, 6, 16, 21, 25});
    EXPECT_THROW(run(batched_scan, {i64({3, 2}), f32({2, 1}, {0, 10}), ramp({2, 3, 1}, 1)}), Unsupported);
}

TEST(Scan, LengthsThatDifferAreRefused) {
    const std::string text = R"(graph {
        input %x: f32[2]
        input %y: f32[n]
        %z = Scan:11(%x, %y) {num_scan_inputs=2, body=graph {
            input %a: f32[]
            input %b: f32[]
            %c = Mul(%a, %b)
            output %c
        }}
        output %z
    })";
    expect_values(run(text, {ramp({2}, 1), ramp({2}, 3)})[0], {2}, {3, 8});
    EXPECT_THROW(run(text, {ramp({2}, 1), ramp({3}, 3)}), UserError);
}

TEST(Infer, AGraphWithALoopIsForTheInterpreterOnly) {
    Graph graph = parse_graph(counted_loop);
    infer_node(graph, 0, declared<Op>());
    try {
        infer_node(graph, 1, declared<Op>());
        FAIL() << "an engine cannot hold a loop";
    } catch (const Unsupported& error) {
        EXPECT_NE(std::string(error.what()).find("(Loop): no engine is built with it"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace headway
