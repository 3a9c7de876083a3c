#include "workers/block.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace headway {
namespace {

// Counts its calls; an iteration takes 10 ticks of the clock.
class Counting final : public Builder {
public:
    BuilderVersion version() override { return {"counting", "1"}; }
    OpenedModel open(const OpenRequest&) override { return {}; }
    BuilderDescription describe() override { return {}; }
    BuiltEngine build(const std::string&, const std::string&, const std::string&) override { return {}; }
    void load(const std::string&, int) override {}
    void check(const std::string&, const std::string&, const std::string&) override {}
    void run(const std::string&, int64_t iterations, int stream) override {
        if (stream == failing) throw std::runtime_error("planted");
        calls[static_cast<size_t>(stream)] += iterations;
        if (stream == 0) ticks += 10 * iterations;
    }
    std::vector<StepTime> profile(const std::string&, int64_t) override { return {}; }

    std::array<std::atomic<int64_t>, 8> calls{};
    std::atomic<int64_t> ticks = 0;
    int failing = -1;
};

std::vector<int64_t> run(Counting& builder, const BlockRequest& request) {
    Streams streams(request.streams);
    return run_block(builder, "engine", request, streams, [&] { return builder.ticks.load(); }).ns;
}

TEST(Block, OneTimeForAllIterations) {
    Counting builder;
    EXPECT_EQ(run(builder, {.iterations = 5, .preroll = 3}), std::vector<int64_t>{50}) << "the preroll is not timed";
    EXPECT_EQ(builder.calls[0], 8);
}

TEST(Block, EveryStreamRunsAllIterations) {
    Counting builder;
    EXPECT_EQ(run(builder, {.iterations = 5, .preroll = 1, .streams = 3}).size(), 1u);
    for (size_t stream = 0; stream < 3; ++stream) EXPECT_EQ(builder.calls[stream], 6);
    EXPECT_EQ(builder.calls[3], 0);
}

TEST(Block, TimesOfEachIterationOfEachStream) {
    Counting builder;
    EXPECT_EQ(run(builder, {.iterations = 4, .per_iteration = true}), std::vector<int64_t>(4, 10));
    EXPECT_EQ(run(builder, {.iterations = 4, .streams = 2, .per_iteration = true}).size(), 8u);
}

TEST(Block, SweepsOfColdCachesAreNotTimed) {
    Counting builder;
    EXPECT_EQ(run(builder, {.iterations = 3, .cold = true}), std::vector<int64_t>{30});
    EXPECT_EQ(run(builder, {.iterations = 3, .per_iteration = true, .cold = true}), std::vector<int64_t>(3, 10));
}

TEST(Block, ErrorOfAStreamIsTheErrorOfTheBlock) {
    Counting builder;
    Streams streams(3);
    for (const int failing : {0, 2}) {
        builder.failing = failing;
        EXPECT_THROW(run_block(builder, "engine", {.iterations = 1, .streams = 3}, streams, [] { return int64_t{1}; }),
                     std::runtime_error);
    }
    builder.failing = -1;
    EXPECT_EQ(
        run_block(builder, "engine", {.iterations = 1, .streams = 3}, streams, [] { return int64_t{1}; }).ns.size(), 1u)
        << "the streams live on";
}

// A runtime's thread that goes on spinning after the last call would take the next engine's CPU.
TEST(Block, AReplyWaitsForThreadsThatSpinOn) {
    constexpr int64_t spins = 3'000'000;  // some milliseconds
    std::atomic<int64_t> spun = 0;
    std::thread spinning([&] {
        while (++spun < spins) {
        }
    });
    wait_for_idle_threads();
    EXPECT_EQ(spun.load(), spins);
    spinning.join();
    wait_for_idle_threads();  // alone: at once
}

}  // namespace
}  // namespace headway
