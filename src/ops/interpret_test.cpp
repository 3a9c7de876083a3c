// The interpreter, shape rules on graphs, and the `ref.` kernels.
#include "graph/text.h"
#include "kernels/kernel.h"
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

TEST(Interpret, RunsAGraph) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[2,2]
        const %two: f32[] = {2}
        %double = Mul:14(%x, %two)
        %sum = Add:14(%double, %x)
        output %sum
        output %x
    })");
    const std::vector<Tensor> inputs{ramp({2, 2}, 1)};
    const auto y = interpret(graph, inputs, declared<Op>());
    expect_values(y[0], {2, 2}, {3, 6, 9, 12});
    expect_values(y[1], {2, 2}, {1, 2, 3, 4});
    EXPECT_THROW(interpret(graph, {}, declared<Op>()), UserError);
}

std::shared_ptr<Graph> branch(const std::string& op) {
    auto graph = std::make_shared<Graph>();
    const ValueId outer = graph->add_value("x", ElementType::f32);
    const ValueId result = graph->add_value("result");
    Node node;
    node.op = op;
    node.version = 13;
    node.origins = {op};
    node.inputs = {outer};
    node.outputs = {result};
    graph->add_node(node);
    graph->outputs = {result};
    return graph;
}

TEST(Interpret, IfRunsTheTakenBranchWithOuterValues) {
    Graph graph;
    const ValueId condition = graph.add_value("condition", ElementType::boolean);
    const ValueId x = graph.add_value("x", ElementType::f32);
    const ValueId y = graph.add_value("y");
    graph.inputs = {condition, x};
    Node node;
    node.op = "If";
    node.version = 13;
    node.origins = {"if"};
    node.inputs = {condition};
    node.outputs = {y};
    // Only the taken branch may run: the other one names no operator.
    node.subgraphs = {{"then_branch", branch("Neg")}, {"else_branch", branch("NoSuchOperator")}};
    graph.add_node(node);
    graph.outputs = {y};
    const std::vector<Tensor> taken{of_type(ElementType::boolean, {}, {1}), f32({1}, {3})};
    expect_values(interpret(graph, taken, declared<Op>())[0], {1}, {-3});
    const std::vector<Tensor> other{of_type(ElementType::boolean, {}, {0}), f32({1}, {3})};
    EXPECT_THROW(interpret(graph, other, declared<Op>()), Unsupported);
}

TEST(Interpret, GroupsRunTheirBody) {
    const Graph body = parse_graph(R"(graph {
        input %a: f32[2]
        %b: f32[2] = Neg:13(%a)
        output %b
    })");
    Graph graph;
    graph.inputs = {graph.add_value("a", ElementType::f32)};
    graph.value(graph.inputs[0]).set_shape({2});
    Node node;
    node.op = "Group";
    node.origins = {"group"};
    node.inputs = graph.inputs;
    node.outputs = {graph.add_value("y")};
    node.body = std::make_shared<Graph>(body);
    graph.outputs = node.outputs;
    const NodeId id = graph.add_node(node);
    infer_node(graph, id, declared<Op>());
    EXPECT_EQ(graph.value(graph.outputs[0]).shape(), (Shape{2}));
    const std::vector<Tensor> inputs{f32({2}, {1, -2})};
    expect_values(interpret(graph, inputs, declared<Op>())[0], {2}, {-1, 2});
}

TEST(Infer, ChecksWhatTheGraphSays) {
    Graph graph = parse_graph(R"(graph {
        input %x: f32[2,3]
        %y: f32[2,4] = Relu:14(%x) @"r"
        output %y
    })");
    try {
        infer_node(graph, 0, declared<Op>());
        FAIL() << "a wrong declared shape passed";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("'r' (Relu)"), std::string::npos) << error.what();
    }
}

TEST(Infer, ShapesThatDependOnUnknownValuesAreRefused) {
    Graph graph = parse_graph(R"(graph {
        input %x: f32[2,3]
        input %shape: i64[2]
        %y = Reshape:14(%x, %shape)
        output %y
    })");
    EXPECT_THROW(infer_node(graph, 0, declared<Op>()), Unsupported);
}

TEST(ReferenceKernel, RunsOnPointersAndPackedConstants) {
    const Registry<Kernel> kernels = declared<Kernel>();
    const Kernel* kernel = kernels.find("ref.Sub");
    ASSERT_NE(kernel, nullptr);
    Problem problem;
    problem.op = "Sub";
    problem.version = 14;
    const TensorDesc desc{ElementType::f32, Shape{2}, Layout::plain};
    problem.src = {desc, desc};
    problem.constant = {true, false};
    problem.dst = {desc};
    const Target target;
    ASSERT_TRUE(kernel->supports(problem, target, {}));
    const Tensor a = f32({2}, {5, 7});
    const Tensor b = f32({2}, {1, 2});
    const std::vector<const Tensor*> constants{&a, nullptr};
    const auto packed = kernel->fields().pack(problem, target, {}, constants);
    ASSERT_EQ(packed.size(), 1U);
    const auto prepared = kernel->fields().prepare(problem, target, {});
    Tensor y = f32({2}, {-1, -1});
    const std::byte* src[] = {nullptr, b.bytes().data()};
    std::byte* dst[] = {y.mutable_bytes().data()};
    const std::byte* blobs[] = {packed[0].bytes().data()};
    Args args;
    args.src = src;
    args.dst = dst;
    args.packed = blobs;
    prepared->run(args, 0, 0, prepared->tiles(0));
    expect_values(y, {2}, {4, 5});

    problem.dst[0].shape = Shape{3};
    EXPECT_THROW(kernel->fields().prepare(problem, target, {})->run(args, 0, 0, 1), UserError);
}

TEST(ReferenceKernel, EveryReferenceIsAKernel) {
    const Registry<Kernel> kernels = declared<Kernel>();
    for (const Op* op : declared<Op>())
        EXPECT_EQ(kernels.find("ref." + std::string(op->name())) != nullptr, bool(op->fields().reference))
            << op->name();
}

}  // namespace
}  // namespace headway
