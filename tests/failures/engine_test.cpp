// Public failures of whole engines: memory that is shared too early, results that hang on threads or on earlier calls,
// layouts that cannot be turned off, threads beyond what the process may use.
#include <sched.h>

#include <thread>

#include "everywhere.h"
#include "graph/text.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

std::shared_ptr<const Engine> engine_of(const Graph& graph, const Target& target, const std::string& route = "") {
    EngineInfo info;
    info.target = target.text();
    return Engine::make(build(graph, {}, Route::parse(route, catalogue().knobs), target, catalogue()).plan, info,
                        catalogue().kernels);
}

Target with_threads(int threads) {
    Target target = Target::native();
    target.threads = threads;
    return target;
}

const std::vector<std::string>& networks() {
    static const std::vector<std::string> names{"residual_block", "conv_chain",   "qkv",     "lstm",     "layout_mix",
                                                "two_branches",   "pool_layouts", "softmax", "conv_wide"};
    return names;
}

// G58: every result of a network read from the arena right after other calls have filled it with other numbers, and
// with NaN: what a step reads was written in the same call.
TEST(Arena, HoldsNothingOfEarlierCalls) {
    for (const std::string& name : networks())
        for (const char* route : {"", "memory.views=off", "fuse_epilogue=off,fuse_pointwise=off"}) {
            SCOPED_TRACE(name + " " + route);
            const Graph graph = witness_graph(name);
            const std::vector<Tensor> inputs = random_inputs(graph);
            std::vector<Tensor> poison;
            for (const Tensor& input : inputs) {
                Tensor bad(input.type(), input.shape());
                for (int64_t i = 0; i < bad.elements() && is_float(bad.type()); ++i) bad.set(i, nan_f);
                poison.push_back(bad);
            }
            Context context(engine_of(graph, with_threads(2), route));
            const std::vector<Tensor> first = context.run(inputs);
            context.run(poison);
            EXPECT_TRUE(same_bits(context.run(inputs), first));
        }
}

// G58: outputs that nobody reads, of operators with several, keep no memory that others need.
TEST(Arena, LivesWithUnreadOutputs) {
    const Tensor x = ramp({1, 2, 4}, -3);
    for (const char* call : {"%m, %i = MaxPool(%x) {kernel_shape=[1]}", "%m, %i = Dropout(%x)",
                             "%m, %i, %j = Split(%x, %three) {axis=2}"}) {
        const bool splits = std::string(call).starts_with("%m, %i, %j");
        const std::vector<double> want = splits ? std::vector<double>{3, 2, -1, -2}
                                                : numbers(8, [](int64_t i) { return 3.0 - static_cast<double>(i); });
        const std::string cut = splits ? "const %three: i64[3] = {2,1,1} " : "";
        expect_everywhere(
            "graph { input %x: f32[1,2,4] " + cut + std::string(call) + " %y = Neg(%m) output %y }", {x},
            {{splits ? Shape{1, 2, 2} : Shape{1, 2, 4}, splits ? std::vector<double>{3, 2, -1, -2} : want}}, 0);
    }
}

// G59, G60: the same bits with one thread and two, and from several contexts at once.
TEST(Results, DoNotHangOnThreads) {
    for (const std::string& name : networks()) {
        SCOPED_TRACE(name);
        const Graph graph = witness_graph(name);
        const std::vector<Tensor> inputs = random_inputs(graph);
        const std::vector<Tensor> one = Context(engine_of(graph, with_threads(1))).run(inputs);
        const std::shared_ptr<const Engine> shared = engine_of(graph, with_threads(2));
        std::vector<int> different(4, 0);
        std::vector<std::thread> callers;
        for (int& count : different)
            callers.emplace_back([&] {
                Context context(shared);
                for (int call = 0; call < 20; ++call) count += same_bits(context.run(inputs), one) ? 0 : 1;
            });
        for (std::thread& caller : callers) caller.join();
        EXPECT_EQ(different, std::vector<int>(4, 0));
    }
}

// G64: a layout in blocks of channels can be kept out of an engine, whatever the kernel's size.
TEST(Layouts, CanBeTurnedOff) {
    const Graph graph = parse_graph(
        "graph { input %x: f32[1,64,12,12] const %w: f32[16,64,11,11] = random(1) %p = Conv(%x, %w) {pads=[5,5,5,5]} "
        "%y = Relu(%p) output %y }");
    const Plan plan =
        build(graph, {}, Route::parse("layout.assign=plain", catalogue().knobs), Target::native(), catalogue()).plan;
    for (const Buffer& buffer : plan.buffers) EXPECT_EQ(buffer.desc.layout, Layout::plain) << buffer.name;
    const std::vector<Tensor> inputs = random_inputs(graph);
    EXPECT_LE(worst_difference(run_engine(plan, Target::native(), inputs), interpret(graph, inputs, catalogue().ops)),
              1e-4);
}

// G67: no more threads than the processors that this process may use.
TEST(Threads, StayInsideTheAffinity) {
    std::thread([] {
        cpu_set_t all, one;
        ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
            if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(Target::native().threads, 1);
    }).join();
}

// G57: one model for many extents: what is computed from shapes follows each of them.
TEST(OpenExtents, AreFollowedThroughShapeArithmetic) {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[batch,length,6]
        const %w: f32[6,8] = fill(0.5)
        const %i: i64[] = {1}
        const %zero: i64[1] = {0}
        const %axis: i64[1] = {0}
        const %heads: i64[2] = {2,4}
        const %first: i64[1] = {1}
        const %cut: i64[1] = {1}
        const %end: i64[1] = {9223372036854775807}
        %p = MatMul(%x, %w)
        %s = Shape(%x)
        %n = Gather(%s, %i)
        %m = Unsqueeze(%n, %axis)
        %b = Slice(%s, %zero, %first, %axis)
        %t = Concat(%b, %m, %heads) {axis=0}
        %h = Reshape(%p, %t)
        %q = Transpose(%h) {perm=[0,2,1,3]}
        %y = Slice(%q, %cut, %end, %first)
        output %y
        output %n
    })");
    for (const int64_t batch : {1, 2, 3})
        for (const int64_t length : {1, 2, 7, 33}) {
            const Tensor x = ramp({batch, length, 6}, 0, 0.01F);
            std::vector<double> want;
            for (int64_t n = 0; n < batch; ++n)
                for (int64_t k = 0; k < length * 4; ++k) {
                    double sum = 0;
                    for (int64_t c = 0; c < 6; ++c) sum += 0.5 * x.at((n * length + k / 4) * 6 + c);
                    want.push_back(sum);
                }
            expect_everywhere(graph, {x}, {{{batch, 1, length, 4}, want}, {{}, {static_cast<double>(length)}}});
        }
}

}  // namespace
}  // namespace headway::testing
