#include "runtime/engine.h"

#include <gtest/gtest.h>

#include <barrier>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "base/limits.h"
#include "runtime/testing.h"

namespace headway::testing {
namespace {

std::vector<float> floats(const Tensor& tensor) {
    const auto data = tensor.data<float>();
    return {data.begin(), data.end()};
}

std::string refusal(const Plan& plan, const std::string& target = "baseline") {
    try {
        EngineInfo info;
        info.target = target;
        Engine::make(plan, info, kernels());
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

class EngineThreads : public ::testing::TestWithParam<std::tuple<int64_t, int>> {};

TEST_P(EngineThreads, RunsEveryStep) {
    const auto [elements, threads] = GetParam();
    const auto x = numbers(elements, 1), y = numbers(elements, 2);
    Context context(example(elements, threads).engine());
    const std::vector<Tensor> inputs{tensor_of(x), tensor_of(y)};
    for (int repeat = 0; repeat < 50; ++repeat)
        ASSERT_EQ(floats(context.run(inputs)[0]), example_result(x, y)) << "run " << repeat;
}

INSTANTIATE_TEST_SUITE_P(Sizes, EngineThreads,
                         ::testing::Combine(::testing::Values(0, 1, 17, 1000, 5003), ::testing::Values(1, 2, 3, 7)));

// libgomp is not built for the thread sanitizer, which then reports its barriers.
#if defined(__SANITIZE_THREAD__)
const std::vector<const char*> pools{"own"};
#else
const std::vector<const char*> pools{"own", "openmp"};
TEST(Engine, RunsOnAnOpenmpTeam) {
    PlanMaker maker = example(1000, 3);
    maker.plan.settings.pool = "openmp";
    const auto x = numbers(1000, 1), y = numbers(1000, 2);
    Context context(maker.engine());
    EXPECT_EQ(floats(context.run(std::vector<Tensor>{tensor_of(x), tensor_of(y)})[0]), example_result(x, y));
}
#endif

TEST(Engine, GivesTheSameResultUnderEveryRunTimeSetting) {
    const auto x = numbers(3000, 1), y = numbers(3000, 2);
    for (const char* pages : {"4k", "thp", "mapped"})
        for (const char* pin : {"none", "compact"})
            for (int64_t spin : {0, 200}) {
                PlanMaker maker = example(3000, 2);
                maker.plan.settings.weight_pages = pages;
                maker.plan.settings.arena_pages = pages == std::string("thp") ? "thp" : "4k";
                maker.plan.settings.pin = pin;
                maker.plan.settings.spin_us = spin;
                maker.plan.settings.tasks_per_thread = spin == 0 ? 1 : 5;
                Context context(maker.engine());
                EXPECT_EQ(floats(context.run(std::vector<Tensor>{tensor_of(x), tensor_of(y)})[0]),
                          example_result(x, y));
            }
}

TEST(Engine, RunsConcurrentContexts) {
    const auto engine = example(4000, 3).engine();
    std::barrier start(8);
    std::vector<std::jthread> callers;
    std::atomic<int> wrong{0};
    for (int caller = 0; caller < 8; ++caller)
        callers.emplace_back([&, caller] {
            const auto x = numbers(4000, caller), y = numbers(4000, caller + 1);
            const auto expected = example_result(x, y);
            const std::vector<Tensor> inputs{tensor_of(x), tensor_of(y)};
            Context context(engine);
            start.arrive_and_wait();
            for (int repeat = 0; repeat < 30; ++repeat) wrong += floats(context.run(inputs)[0]) != expected;
        });
    callers.clear();
    EXPECT_EQ(wrong, 0);
}

Plan traced(int64_t elements, int threads, int max_threads) {
    PlanMaker maker(elements, threads);
    const int32_t x = maker.input("x"), out = maker.output("out");
    maker.step("test.trace", {x}, out).max_threads = max_threads;
    trace.threads.clear();
    trace.modes.clear();
    return maker.plan;
}

TEST(Engine, StepsStayWithinTheirThreadLimit) {
    const std::vector<Tensor> inputs{tensor_of(numbers(2000, 1))};
    Context alone(Engine::make(traced(2000, 4, 1), PlanMaker::info(), kernels()));
    alone.run(inputs);
    EXPECT_EQ(trace.threads.count(std::this_thread::get_id()), 2000U);
    Context few(Engine::make(traced(2000, 4, 2), PlanMaker::info(), kernels()));
    for (int repeat = 0; repeat < 20; ++repeat) few.run(inputs);
    EXPECT_LE(std::set<std::thread::id>(trace.threads.begin(), trace.threads.end()).size(), 2U);
    EXPECT_EQ(trace.threads.size(), 20U * 2000U);
}

TEST(Engine, GivesTheSameHoweverAStepIsSharedOut) {
    const auto x = numbers(3001, 1), y = numbers(3001, 2);
    for (const char* partition : {"steal", "static", "guided"})
        for (const char* wait : {"pause", "yield"})
            for (const int threads : {2, 3, 7}) {
                PlanMaker maker = example(3001, threads);
                maker.plan.settings.partition = partition;
                maker.plan.settings.wait = wait;
                Context context(maker.engine());
                for (int repeat = 0; repeat < 5; ++repeat)
                    EXPECT_EQ(floats(context.run(std::vector<Tensor>{tensor_of(x), tensor_of(y)})[0]),
                              example_result(x, y))
                        << partition << " " << wait << " " << threads;
            }
}

// Nobody takes over a static share: each thread runs its own, and the same tiles every time.
TEST(Engine, StaticSharesStayWithTheirThreads) {
    const std::vector<Tensor> inputs{tensor_of(numbers(2048, 1))};
    Plan plan = traced(2048, 4, 0);
    plan.settings.partition = "static";
    Context context(Engine::make(plan, PlanMaker::info(), kernels()));
    for (int repeat = 0; repeat < 10; ++repeat) {
        trace.threads.clear();
        context.run(inputs);
        std::map<std::thread::id, int> tiles;
        for (const std::thread::id id : trace.threads) ++tiles[id];
        EXPECT_EQ(tiles.size(), 4U);
        for (const auto& [id, count] : tiles) EXPECT_EQ(count, 512);
    }
}

// What a kernel refuses is the caller's to hear, whichever thread was at it; the engine works on.
TEST(Engine, PassesErrorsOfAnyThreadToTheCaller) {
    for (const char* pool : pools)
        for (const int threads : {1, 2, 5}) {
            PlanMaker maker(5000, threads);
            const int32_t x = maker.input("x");
            maker.step("test.positive", {x}, maker.output("out"));
            maker.plan.settings.pool = pool;
            Context context(maker.engine());
            const std::vector<float> good(5000, 1);
            for (const size_t at : {size_t{0}, size_t{2500}, size_t{4999}}) {
                std::vector<float> bad = good;
                bad[at] = bad[4999] = -1;
                try {
                    context.run(std::vector<Tensor>{tensor_of(bad)});
                    FAIL() << pool << " with " << threads << " threads took element " << at;
                } catch (const UserError& error) {
                    EXPECT_EQ(error.what(), "step 0 (test.positive#0): element " + std::to_string(at) + " is negative");
                }
                EXPECT_EQ(floats(context.run(std::vector<Tensor>{tensor_of(good)})[0]), good);
            }
        }
}

TEST(Engine, SetsTheFloatModeOfEveryThreadAndRestoresTheCallers) {
    const std::vector<Tensor> inputs{tensor_of(numbers(2000, 1))};
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x2000);  // the caller rounds down
    for (const char* pool : pools)
        for (bool flush : {true, false}) {
            Plan plan = traced(2000, 2, 0);
            plan.settings.flush_to_zero = flush;
            plan.settings.pool = pool;
            Context context(Engine::make(std::move(plan), PlanMaker::info(), kernels()));
            for (int repeat = 0; repeat < 20; ++repeat) context.run(inputs);
            EXPECT_EQ(trace.modes, std::set<unsigned>{flush ? 0x9FC0U & ~0x3FU : 0x1F80U}) << pool;
            EXPECT_EQ(_mm_getcsr() & 0x6000, 0x2000U);
        }
    _mm_setcsr(before);
}

// No tile ends before as many threads are inside as the engine has: whoever does not take part is found.
class Gathering final : public Prepared {
public:
    int64_t tiles(int) const override { return size; }
    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        {
            std::unique_lock lock(mutex);
            modes[std::this_thread::get_id()] = _mm_getcsr() & ~0x3FU;
            all_inside.notify_all();
            all_inside.wait(lock, [] { return static_cast<int64_t>(modes.size()) == size; });
        }
        for (int64_t i = begin; i < end; ++i) result(args)[i] = source(args, 0)[i];
    }

    static constexpr int64_t size = 4;
    static inline std::mutex mutex;
    static inline std::condition_variable all_inside;
    static inline std::map<std::thread::id, unsigned> modes;
};

TEST(Engine, FlushesSubnormalsOnEveryThreadOfThePool) {
    static const Kernel gathering([] {
        auto fields = kernel_fields("test.gathering", nullptr);
        fields.prepare = [](const Problem&, const Target&, const Choices&) { return std::make_unique<Gathering>(); };
        return fields;
    }());
    const Registry<Kernel> registry({&gathering});
    for (const char* pool : pools)
        for (bool flush : {true, false}) {
            PlanMaker maker(Gathering::size, Gathering::size);
            maker.step("test.gathering", {maker.input("x")}, maker.output("y"));
            maker.plan.settings.flush_to_zero = flush;
            maker.plan.settings.pool = pool;
            Gathering::modes.clear();
            Context context(Engine::make(maker.plan, PlanMaker::info(), registry));
            context.run(std::vector<Tensor>{tensor_of(numbers(Gathering::size, 1))});
            EXPECT_EQ(Gathering::modes.size(), static_cast<size_t>(Gathering::size));
            for (const auto& [thread, mode] : Gathering::modes)
                EXPECT_EQ(mode, flush ? 0x9FC0U : 0x1F80U)
                    << pool << ": rounds to nearest, flushes results and operands";
        }
}

TEST(Engine, ProfilesEachStep) {
    Context context(example(100).engine());
    const auto x = numbers(100, 1), y = numbers(100, 2);
    std::vector<float> out(100);
    const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(x.data()),
                                 reinterpret_cast<const std::byte*>(y.data())};
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(out.data())};
    std::vector<int64_t> ns(4, 1000);
    context.profile(inputs, outputs, ns);
    EXPECT_EQ(out, example_result(x, y));
    for (int64_t step : ns) EXPECT_GE(step, 1000);
}

class WorkLimit {
public:
    explicit WorkLimit(int64_t work) { set_limits({.memory = before_.memory, .work = work}); }
    ~WorkLimit() { set_limits(before_); }

private:
    const Limits before_ = limits();
};

// Known when the engine is made, spent when it runs.
TEST(Engine, ChargesTheWorkOfItsSteps) {
    PlanMaker maker = example(1000, 1);
    const Registry<Kernel>& known = kernels();
    Kernel::Fields counted = known.find(maker.plan.steps[0].kernel)->fields();
    counted.name = "test.counted";
    counted.work = [](const Problem&, const Target&, const Choices&) { return Work{.flops = 2000, .bytes = 4000}; };
    static const Kernel kernel(std::move(counted));  // it announces itself
    std::vector<const Kernel*> list{&kernel};
    for (const Kernel* other : known) list.push_back(other);
    maker.plan.steps[0].kernel = "test.counted";
    EngineInfo info;
    info.target = "baseline";
    Context context(Engine::make(maker.plan, info, Registry<Kernel>(list)));
    const std::vector<Tensor> inputs{tensor_of(numbers(1000, 1)), tensor_of(numbers(1000, 2))};
    const WorkLimit enough(2000);
    EXPECT_NO_THROW(context.run(inputs));
    const WorkLimit little(1999);
    EXPECT_THROW(context.run(inputs), UserError);
}

TEST(Engine, RefusesOtherInputs) {
    Context context(example(10).engine());
    const auto message = [&](const std::vector<Tensor>& inputs) -> std::string {
        try {
            context.run(inputs);
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    };
    const Tensor good = tensor_of(numbers(10, 1));
    EXPECT_EQ(message({good}), "the engine has 2 inputs, given were 1");
    EXPECT_EQ(message({good, tensor_of(numbers(11, 1))}), "input y is f32 11, the engine takes f32 10");
    EXPECT_EQ(message({Tensor(ElementType::i32, Shape{10}), good}), "input x is i32 10, the engine takes f32 10");
}

TEST(Engine, RefusesAnotherValueOfAFixedInput) {
    PlanMaker maker = example(4);
    const std::vector<float> fixed{1, 2, 3, 4};
    maker.plan.inputs[1].fixed_value.resize(16);
    std::memcpy(maker.plan.inputs[1].fixed_value.data(), fixed.data(), 16);
    Context context(maker.engine());
    const Tensor x = tensor_of(numbers(4, 1));
    EXPECT_NO_THROW(context.run(std::vector<Tensor>{x, tensor_of(fixed)}));
    EXPECT_THROW(context.run(std::vector<Tensor>{x, x}), UserError);
}

TEST(Engine, RefusesWhatThisMachineOrVersionCannotRun) {
    Plan plan = example(10).plan;
    if (!runs_here(Isa::avx512)) {
        EXPECT_EQ(
            refusal(plan, "avx512"),
            "the engine was built for isa=avx512, which this machine does not have: build it again for this machine");
    }
    plan.steps[1].kernel = "test.wide";
    EXPECT_EQ(refusal(plan),
              "step 1 (test.scale#1): kernel test.wide cannot run it: isa: target has baseline (needs avx512)");
    plan.steps[1].kernel = "test.bf16";
    EXPECT_EQ(refusal(plan),
              "step 1 (test.scale#1): kernel test.bf16 cannot run it: isa: this target has no bf16 arithmetic "
              "(AVX512_BF16)");
    if (!Target::native().avx512_bf16) {
        EXPECT_EQ(refusal(plan, "isa=baseline bf16=1"),
                  "the engine was built for bf16=1, which this machine does not have: build it again for this machine");
    }
    EXPECT_EQ(refusal(plan, "isa=baseline fp16=1"),
              "the engine was built for fp16=1, which this machine does not have: build it again for this machine");
    plan.steps[1].kernel = "test.lost";
    EXPECT_EQ(refusal(plan), "step 1 (test.scale#1) needs kernel test.lost, which this version does not have");
}

TEST(Engine, LetsOnlyInPlaceKernelsWriteOverTheirInput) {
    PlanMaker maker(20);
    const int32_t x = maker.input("x"), out = maker.output("out");
    const int32_t a = maker.arena("a", 0), b = maker.arena("b", 0);
    maker.step("test.add", {x, x}, a);
    maker.step("test.add", {a, x}, b);
    maker.step("test.add", {b, x}, out);
    Context context(maker.engine());
    const auto values = numbers(20, 3);
    std::vector<float> expected;
    for (float v : values) expected.push_back(4 * v);
    EXPECT_EQ(floats(context.run(std::vector<Tensor>{tensor_of(values)})[0]), expected);
    maker.plan.steps[1].kernel = "test.sum_all";
    EXPECT_EQ(refusal(maker.plan), "step 1 (test.add#1): kernel test.sum_all cannot write over its input");
}

}  // namespace
}  // namespace headway::testing
