// Operators on sequences and optionals, alone and in branches and loops.
#include "graph/text.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

std::vector<Datum> run_data(const std::string& text, const std::vector<Datum>& inputs) {
    return interpret_data(parse_graph(text), inputs, declared<Op>());
}

Sequence sequence_of(const std::vector<Tensor>& tensors) {
    return {ElementType::f32, {tensors.begin(), tensors.end()}};
}

// One operator between a sequence and an index; returns what it gives.
Datum edited(const std::string& op, const Sequence& sequence, const std::vector<Datum>& more) {
    std::string inputs, arguments = "%s";
    for (size_t i = 0; i < more.size(); ++i) {
        inputs += "input %m" + std::to_string(i) + " ";
        arguments += ", %m" + std::to_string(i);
    }
    std::vector<Datum> given{sequence};
    given.insert(given.end(), more.begin(), more.end());
    return run_data("graph { input %s: sequence f32 " + inputs + "%y = " + op + "(" + arguments + ") output %y }",
                    given)[0];
}

Tensor index_of(int64_t value) { return Tensor::scalar(value); }

void expect_firsts(const Datum& got, const std::vector<double>& firsts) {
    ASSERT_TRUE(std::holds_alternative<Sequence>(got));
    const std::vector<TensorValues>& tensors = std::get<Sequence>(got).tensors;
    ASSERT_EQ(tensors.size(), firsts.size());
    for (size_t i = 0; i < firsts.size(); ++i)
        EXPECT_EQ(std::get<Tensor>(tensors[i]).at(0), firsts[i]) << "tensor " << i;
}

TEST(Sequence, PositionsCountFromBothEnds) {
    const Sequence three = sequence_of({f32({1}, {1}), f32({2}, {2, 2}), f32({}, {3})});
    const Tensor nine = f32({1}, {9});
    expect_firsts(edited("SequenceInsert", three, {nine}), {1, 2, 3, 9});
    expect_firsts(edited("SequenceInsert", three, {nine, index_of(3)}), {1, 2, 3, 9});
    expect_firsts(edited("SequenceInsert", three, {nine, index_of(-3)}), {9, 1, 2, 3});
    expect_firsts(edited("SequenceInsert", three, {nine, index_of(-1)}), {1, 2, 9, 3});
    EXPECT_THROW(edited("SequenceInsert", three, {nine, index_of(4)}), UserError);
    EXPECT_THROW(edited("SequenceInsert", three, {i64({9})}), UserError) << "another type";
    expect_firsts(edited("SequenceErase", three, {}), {1, 2});
    expect_firsts(edited("SequenceErase", three, {index_of(-3)}), {2, 3});
    EXPECT_THROW(edited("SequenceErase", three, {index_of(3)}), UserError);
    EXPECT_THROW(edited("SequenceErase", sequence_of({}), {}), UserError);
    EXPECT_EQ(std::get<Tensor>(edited("SequenceAt", three, {index_of(-2)})).at(0), 2);
    EXPECT_THROW(edited("SequenceAt", three, {index_of(-4)}), UserError);
    EXPECT_EQ(std::get<Tensor>(edited("SequenceLength", three, {})).to_int64()[0], 3);
}

TEST(Sequence, WhatTakesTensorsRefusesSequences) {
    EXPECT_THROW(edited("Neg", sequence_of({}), {}), UserError);
    EXPECT_THROW(run_data("graph { input %x: f32[1] %y = SequenceLength(%x) output %y }", {f32({1}, {1})}), UserError);
    EXPECT_THROW(interpret(parse_graph("graph { input %x: f32[1] %y = SequenceConstruct(%x) output %y }"),
                           std::vector<Tensor>{f32({1}, {1})}, declared<Op>()),
                 UserError);
}

Datum split(const std::string& attributes, const Tensor& x, const std::vector<Datum>& lengths = {}) {
    std::vector<Datum> inputs{x};
    inputs.insert(inputs.end(), lengths.begin(), lengths.end());
    return run_data("graph { input %x: f32[?,?] " + std::string(lengths.empty() ? "" : "input %l: i64 ") +
                        "%y = SplitToSequence(%x" + (lengths.empty() ? "" : ", %l") + ") {" + attributes +
                        "} output %y }",
                    inputs)[0];
}

TEST(Sequence, SplitsByLengthsOrOneByOne) {
    const Tensor x = ramp({2, 5});
    const auto parts = [](const Datum& datum) {
        std::vector<Tensor> tensors;
        for (const TensorValues& each : std::get<Sequence>(datum).tensors) tensors.push_back(std::get<Tensor>(each));
        return tensors;
    };
    const auto uneven = parts(split("axis=-1", x, {index_of(2)}));
    ASSERT_EQ(uneven.size(), 3U);
    expect_values(uneven[2], {2, 1}, {4, 9});
    const auto listed = parts(split("axis=1, keepdims=0", x, {i64({4, 0, 1})}));
    ASSERT_EQ(listed.size(), 3U);
    EXPECT_EQ(listed[1].shape().text(), "2x0");
    expect_values(listed[2], {2, 1}, {4, 9});
    const auto rows = parts(split("axis=0, keepdims=0", x));
    ASSERT_EQ(rows.size(), 2U);
    expect_values(rows[1], {5}, {5, 6, 7, 8, 9});
    expect_values(parts(split("axis=0", x))[1], {1, 5}, {5, 6, 7, 8, 9});
    EXPECT_THROW(split("axis=1", x, {i64({4, 2})}), UserError);
    EXPECT_THROW(split("axis=1", x, {i64({6, -1})}), UserError);
    EXPECT_THROW(split("axis=1", x, {index_of(0)}), UserError);
}

Tensor joined(const std::string& attributes, const std::vector<Tensor>& tensors) {
    return std::get<Tensor>(
        run_data("graph { input %s: sequence f32 %y = ConcatFromSequence(%s) {" + attributes + "} output %y }",
                 {sequence_of(tensors)})[0]);
}

TEST(Sequence, JoinsAlongAnOldOrANewAxis) {
    expect_values(joined("axis=1", {ramp({2, 1}), ramp({2, 2}, 10)}), {2, 3}, {0, 10, 11, 1, 12, 13});
    expect_values(joined("axis=-1, new_axis=1", {ramp({2}), ramp({2}, 10)}), {2, 2}, {0, 10, 1, 11});
    EXPECT_THROW(joined("axis=0", {ramp({2, 1}), ramp({2, 2})}), UserError);
    EXPECT_THROW(joined("axis=0, new_axis=1", {ramp({2}), ramp({3})}), UserError);
    EXPECT_THROW(joined("axis=0", {}), UserError);
    EXPECT_THROW(joined("new_axis=1", {ramp({2})}), UserError);
}

TEST(Sequence, MapsSequencesTogetherAndTensorsToEach) {
    const std::string text = R"(graph {
        input %s: sequence f32
        input %t: sequence f32
        input %x: f32[1]
        %y = SequenceMap(%s, %t, %x) {body=graph {
            input %a: f32[1]
            input %b: f32[1]
            input %c: f32[1]
            %ab = Mul(%a, %b)
            %abc = Add(%ab, %c)
            output %abc
        }}
        output %y
    })";
    const Sequence s = sequence_of({f32({1}, {2}), f32({1}, {3})});
    const Sequence t = sequence_of({f32({1}, {5}), f32({1}, {7})});
    expect_firsts(run_data(text, {s, t, f32({1}, {1})})[0], {11, 22});
    expect_firsts(run_data(text, {sequence_of({}), sequence_of({}), f32({1}, {1})})[0], {});
    EXPECT_THROW(run_data(text, {s, sequence_of({}), f32({1}, {1})}), UserError);
}

TEST(Sequence, LoopsCarryThem) {
    const auto y = run_data(R"(graph {
        input %n: i64[]
        %empty = SequenceEmpty() {dtype=7}
        %all = Loop(%n, _, %empty) {body=graph {
            input %i: i64[]
            input %c: bool[]
            input %before: sequence i64
            %after = SequenceInsert(%before, %i)
            output %c
            output %after
        }}
        output %all
    })",
                            {index_of(3)});
    expect_firsts(y[0], {0, 1, 2});
}

TEST(Optional, MayBeAbsent) {
    const std::string text = R"(graph {
        input %o: optional f32
        input %x: f32[1]
        %has = OptionalHasElement(%o)
        %y = If(%has) {then_branch=graph { %e = OptionalGetElement(%o) output %e }, else_branch=graph { output %x }}
        %same = Identity(%o)
        output %y
        output %same
    })";
    const Tensor seven = f32({1}, {7}), one = f32({1}, {1});
    EXPECT_EQ(std::get<Tensor>(run_data(text, {seven, one})[0]).at(0), 7);
    const auto y = run_data(text, {Datum{}, one});
    EXPECT_EQ(std::get<Tensor>(y[0]).at(0), 1);
    EXPECT_TRUE(std::holds_alternative<Absent>(y[1]));
    EXPECT_THROW(run_data("graph { %o = Optional() %y = OptionalGetElement(%o) output %y }", {}), UserError);
    EXPECT_EQ(std::get<Tensor>(run_data("graph { %y = OptionalHasElement() output %y }", {})[0]).at(0), 0);
}

TEST(Infer, SequencesAreNamedWhereAnEngineIsWanted) {
    Graph graph = parse_graph("graph { input %s: sequence f32 %y = Identity(%s) output %y }");
    try {
        infer_node(graph, 0, declared<Op>());
        FAIL() << "an engine cannot hold a sequence";
    } catch (const Unsupported& error) {
        EXPECT_NE(std::string(error.what()).find("input 's' is declared as sequence"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace headway
