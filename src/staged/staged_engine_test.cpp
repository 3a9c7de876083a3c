#include "staged/staged_engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/call_work.h"
#include "base/error.h"
#include "base/limits.h"
#include "graph/text.h"
#include "tensor/compare.h"
#include "tensor/random.h"

namespace headway {
namespace {

const Catalogue& catalogue() {
    static const Catalogue everything;
    return everything;
}

std::shared_ptr<const StagedEngine> engine_of(const Graph& graph, const Bindings& bindings = {},
                                              const std::string& route = "staged.compile_from=0") {
    Target target = Target::native();
    target.threads = 2;
    return StagedEngine::make(
        build_staged(graph, bindings, Route::parse(route, catalogue().knobs), target, catalogue(), {}, {}),
        catalogue());
}

Tensor floats(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }
Tensor integers(Shape shape, std::vector<int64_t> values) { return Tensor::of<int64_t>(std::move(shape), values); }

std::vector<Hash> hashes(const std::vector<Datum>& data) {
    std::vector<Hash> list;
    for (const Datum& datum : data) list.push_back(std::get<Tensor>(datum).hash());
    return list;
}

// Compiled parts sum in another order than the interpreter.
void expect_close(const std::vector<Datum>& got, const std::vector<Datum>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
        const Tensor& a = std::get<Tensor>(got[i]);
        const Tensor& b = std::get<Tensor>(want[i]);
        ASSERT_EQ(a.shape(), b.shape()) << "output " << i;
        ASSERT_EQ(a.type(), b.type()) << "output " << i;
        EXPECT_EQ(compare_tensors(a, b, 1e-4, 1e-5).mismatches, 0) << "output " << i;
    }
}

std::vector<Datum> expect_as_interpreted(const Graph& graph, const std::vector<Datum>& inputs,
                                         const std::string& route = "staged.compile_from=0") {
    const std::vector<Datum> got = engine_of(graph, {}, route)->run(inputs);
    expect_close(got, interpret_data(graph, inputs, catalogue().ops));
    return got;
}

const char* const open_shapes = R"(graph {
    input %x: f32[batch,48]
    const %w: f32[48,48] = random(3)
    %h: f32 = MatMul(%x, %w)
    %r: f32 = Relu(%h)
    %at: i64 = NonZero(%r)
    %t: i64 = Transpose(%at) {perm=[1,0]}
    %picked: f32 = GatherND(%r, %t)
    output %h
    output %picked
})";

TEST(StagedEngine, GivesTheSameBitsWhateverRanInBetween) {
    const Graph graph = parse_graph(open_shapes);
    const std::shared_ptr<const StagedEngine> engine =
        engine_of(graph, {}, "staged.compile_from=0,staged.kept_shapes=1");
    const std::vector<Datum> a{random_tensor(ElementType::f32, Shape{5, 48}, 1)};
    const std::vector<Datum> b{random_tensor(ElementType::f32, Shape{33, 48}, 2)};
    const std::vector<Datum> first = engine->run(a);
    expect_close(first, interpret_data(graph, a, catalogue().ops));
    expect_close(engine->run(b), interpret_data(graph, b, catalogue().ops));
    EXPECT_EQ(hashes(engine->run(a)), hashes(first));
}

TEST(StagedEngine, RunsShapesFromNoneToMany) {
    const Graph graph = parse_graph(open_shapes);
    const std::shared_ptr<const StagedEngine> engine = engine_of(graph);
    for (const int64_t batch : {0, 1, 3, 17, 64}) {
        const std::vector<Datum> x{random_tensor(ElementType::f32, Shape{batch, 48}, 9)};
        expect_close(engine->run(x), interpret_data(graph, x, catalogue().ops));
    }
}

// Parts that are compiled and parts that are not give the same numbers.
TEST(StagedEngine, AgreesWhereverTheLineIsDrawn) {
    const Graph graph = parse_graph(open_shapes);
    const std::vector<Datum> x{random_tensor(ElementType::f32, Shape{7, 48}, 4)};
    for (const char* line : {"0", "4096", "262144"})
        expect_as_interpreted(graph, x, std::string("staged.compile_from=") + line);
}

TEST(StagedEngine, RunsALoopWithCapturesAndScans) {
    const Graph graph = parse_graph(R"(graph {
        input %trips: i64[]
        input %x: f32[n,4]
        const %w: f32[4,4] = random(5)
        const %true: bool[] = {1}
        %last: f32, %all: f32 = Loop(%trips, %true, %x) {body=graph {
            input %i: i64[]
            input %go: bool[]
            input %state: f32
            %p: f32 = MatMul(%state, %w)
            %f: f32 = Cast(%i) {to=1}
            %q: f32 = Add(%p, %f)
            %s: f32 = Add(%q, %x)
            %more: bool = Identity(%go)
            output %more
            output %s
            output %p
        }}
        output %last
        output %all
    })");
    for (const int64_t trips : {1, 2, 5})
        expect_as_interpreted(graph, {Tensor::scalar(trips), random_tensor(ElementType::f32, Shape{3, 4}, 1)});
}

// The turns of a loop, its references and its compiled pieces are parts of one call.
TEST(StagedEngine, ChargesALoopToItsCall) {
    const Graph graph = parse_graph(R"(graph {
        input %trips: i64[]
        input %x: f32[n]
        const %true: bool[] = {1}
        %last: f32 = Loop(%trips, %true, %x) {body=graph {
            input %i: i64[]
            input %go: bool[]
            input %state: f32
            %next: f32 = Relu(%state)
            %more: bool = Identity(%go)
            output %more
            output %next
        }}
        output %last
    })");
    const auto engine = engine_of(graph);
    const auto run = [&](int64_t trips) {
        return engine->run(std::vector<Datum>{Tensor::scalar(trips), random_tensor(ElementType::f32, Shape{3}, 1)});
    };
    const Limits before = limits();
    set_limits({.memory = before.memory, .work = 100 * reference_weight * node_run_work});
    EXPECT_NO_THROW(run(20));
    EXPECT_NO_THROW(run(20)) << "each call has its own";
    EXPECT_THROW(run(200), UserError);
    EXPECT_THROW(
        interpret_data(graph, std::vector<Datum>{Tensor::scalar(int64_t{200}), floats({1}, {1})}, catalogue().ops),
        UserError);
    set_limits(before);
}

// A state that grows by a row each time meets a new shape each time.
TEST(StagedEngine, RunsALoopWhoseShapesChange) {
    const Graph graph = parse_graph(R"(graph {
        input %trips: i64[]
        input %x: f32[n,2]
        const %true: bool[] = {1}
        %last: f32 = Loop(%trips, %true, %x) {body=graph {
            input %i: i64[]
            input %go: bool[]
            input %state: f32
            %longer: f32 = Concat(%state, %x) {axis=0}
            %more: bool = Identity(%go)
            output %more
            output %longer
        }}
        output %last
    })");
    const std::vector<Datum> got =
        expect_as_interpreted(graph, {Tensor::scalar(int64_t{20}), random_tensor(ElementType::f32, Shape{1, 2}, 1)});
    EXPECT_EQ(std::get<Tensor>(got[0]).shape(), (Shape{21, 2}));
}

TEST(StagedEngine, TakesTheBranchThatTheValueSays) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[n]
        const %zero: f32[] = {0}
        %sum: f32 = ReduceSum(%x) {keepdims=0}
        %positive: bool = Greater(%sum, %zero)
        %y: f32 = If(%positive) {then_branch=graph {
            const %two: f32[] = {2}
            %a: f32 = Mul(%x, %two)
            output %a
        }, else_branch=graph {
            %inner: f32 = If(%positive) {then_branch=graph {
                output %x
            }, else_branch=graph {
                %b: f32 = Concat(%x, %x) {axis=0}
                output %b
            }}
            output %inner
        }}
        output %y
    })");
    const auto run = [&](std::vector<float> values) {
        const auto count = static_cast<int64_t>(values.size());
        return std::get<Tensor>(expect_as_interpreted(graph, {floats(Shape{count}, std::move(values))})[0]);
    };
    EXPECT_EQ(run({1, 2}).at(1), 4);
    EXPECT_EQ(run({-1, -2}).shape(), Shape{4});
}

TEST(StagedEngine, RunsShapesThatDependOnValues) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[n]
        input %count: i64[1]
        %u: f32, %first: i64 = Unique(%x)
        %size: i64 = Shape(%u)
        %long: f32 = Expand(%u, %count)
        %ones: f32 = ConstantOfShape(%size) {value=f32[1] {1}}
        %total: f32 = Add(%u, %ones)
        %two: f32 = Reshape(%long, %count)
        output %total
        output %first
        output %two
    })");
    const std::vector<Datum> got =
        engine_of(graph)->run(std::vector<Datum>{floats(Shape{4}, {3, 3, 3, 3}), integers(Shape{1}, {5})});
    EXPECT_EQ(std::get<Tensor>(got[0]).at(0), 4);
    EXPECT_EQ(std::get<Tensor>(got[2]).shape(), Shape{5});
}

TEST(StagedEngine, CarriesSequencesAndAbsentOptionals) {
    const Graph graph = parse_graph(R"(graph {
        input %s: sequence f32
        input %x: f32[n,3]
        %longer: f32 = SequenceInsert(%s, %x)
        %length: i64 = SequenceLength(%longer)
        %joined: f32 = ConcatFromSequence(%longer) {axis=0}
        %squares: f32 = Mul(%joined, %joined)
        output %length
        output %squares
        output %longer
    })");
    const Sequence given{ElementType::f32, {floats(Shape{1, 3}, {1, 2, 3})}};
    const std::vector<Datum> got =
        engine_of(graph)->run(std::vector<Datum>{given, floats(Shape{2, 3}, {4, 5, 6, 7, 8, 9})});
    EXPECT_EQ(std::get<Tensor>(got[0]).at(0), 2);
    EXPECT_EQ(std::get<Tensor>(got[1]).at(8), 81);
    EXPECT_EQ(std::get<Sequence>(got[2]).tensors.size(), 2U);
}

TEST(StagedEngine, CarriesSequencesOfStrings) {
    const Graph graph = parse_graph(R"(graph {
        input %s: sequence string
        input %x: string[n]
        %longer: string = SequenceInsert(%s, %x)
        %joined: string = ConcatFromSequence(%longer) {axis=0}
        output %longer
        output %joined
    })");
    const Sequence given{ElementType::string, {Strings{Shape{1}, {"a"}}}};
    const std::vector<Datum> got = engine_of(graph)->run(std::vector<Datum>{given, Strings{Shape{2}, {"b", ""}}});
    EXPECT_EQ(std::get<Sequence>(got[0]).tensors.size(), 2U);
    EXPECT_EQ(std::get<Strings>(got[1]).values, (std::vector<std::string>{"a", "b", ""}));
}

TEST(StagedEngine, ReturnsInputsAndConstantsAsTheyAre) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[n]
        const %c: f32[2] = {7,8}
        %y: f32 = Neg(%x)
        output %x
        output %y
        output %c
        output %y
    })");
    const std::vector<Datum> got = engine_of(graph)->run(std::vector<Datum>{floats(Shape{1}, {3})});
    EXPECT_EQ(std::get<Tensor>(got[0]).at(0), 3);
    EXPECT_EQ(std::get<Tensor>(got[1]).at(0), -3);
    EXPECT_EQ(std::get<Tensor>(got[2]).at(1), 8);
    EXPECT_EQ(std::get<Tensor>(got[3]).at(0), -3);
}

TEST(StagedEngine, RunsTheSameAfterItsFile) {
    const std::string path = ::testing::TempDir() + "/staged_" + std::to_string(::getpid()) + ".hwe";
    const Graph graph = parse_graph(open_shapes);
    const std::vector<Datum> x{random_tensor(ElementType::f32, Shape{9, 48}, 1)};
    const EngineFile file = build_staged(graph, {}, {}, Target::native(), catalogue(), {}, x);
    write_engine_file(path, file.plan, file.info, file.staged);
    const std::shared_ptr<const StagedEngine> loaded = StagedEngine::load(path, catalogue());
    EXPECT_EQ(loaded->fingerprint(), file.fingerprint());
    EXPECT_EQ(hashes(loaded->run(x)), hashes(StagedEngine::make(file, catalogue())->run(x)));
    EXPECT_NE(loaded->info().ledger.find("NonZero"), std::string::npos);
    EXPECT_THROW(Engine::load(path, catalogue().kernels), UserError);
    std::filesystem::remove(path);
}

std::string refusal(const StagedEngine& engine, const std::vector<Datum>& inputs) {
    try {
        engine.run(inputs);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(StagedEngine, RefusesWhatItsRangesLeaveOut) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[n,?]
        input %y: f32[n]
        input %k: i64[]
        %z: f32 = Relu(%x)
        output %z
        output %y
        output %k
    })");
    Bindings bindings;
    bindings.ranges["x"] = {{1, 8}, {4, 4}};
    bindings.values["k"] = Tensor::scalar(int64_t{16});
    const auto engine = engine_of(graph, bindings);
    const auto x = [](int64_t rows, int64_t columns) { return Tensor(ElementType::f32, Shape{rows, columns}); };
    const auto y = [](int64_t rows) { return Tensor(ElementType::f32, Shape{rows}); };
    const Datum k = Tensor::scalar(int64_t{16});
    EXPECT_EQ(refusal(*engine, {x(2, 4), y(2), k}), "");
    EXPECT_EQ(refusal(*engine, {x(9, 4), y(9), k}), "input x is f32 9x4, the engine takes 1..8x4");
    EXPECT_EQ(refusal(*engine, {x(2, 5), y(2), k}), "input x is f32 2x5, the engine takes 1..8x4");
    EXPECT_EQ(refusal(*engine, {x(2, 4), y(3), k}), "input y is f32 3, the engine takes \"n\" = 2 as in another input");
    EXPECT_EQ(refusal(*engine, {x(2, 4), y(2), Tensor::scalar(int64_t{8})}),
              "input k was fixed when the engine was built and now has another value");
    EXPECT_EQ(refusal(*engine, {x(2, 4), y(2)}), "the engine has 3 inputs, given were 2");
    EXPECT_EQ(refusal(*engine, {integers(Shape{1, 4}, {1, 2, 3, 4}), y(1), k}),
              "input x is i64 1x4, the engine takes f32");
}

TEST(StagedEngine, MayBeRunByManyAtOnce) {
    const Graph graph = parse_graph(open_shapes);
    const std::shared_ptr<const StagedEngine> engine = engine_of(graph);
    const auto input = [](int64_t batch) {
        return std::vector<Datum>{random_tensor(ElementType::f32, Shape{batch, 48}, 6)};
    };
    std::vector<std::vector<Hash>> want;
    for (int64_t batch = 1; batch <= 4; ++batch) want.push_back(hashes(engine->run(input(batch))));
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (int64_t first = 0; first < 4; ++first)
        threads.emplace_back([&, first] {
            for (int64_t k = 0; k < 40; ++k) {
                const int64_t batch = (first + k) % 4 + 1;
                if (hashes(engine->run(input(batch))) != want[static_cast<size_t>(batch - 1)])
                    ++wrong[static_cast<size_t>(first)];
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace headway
