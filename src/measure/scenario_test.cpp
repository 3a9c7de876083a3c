#include "measure/scenario.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/rng.h"

namespace headway {
namespace {

TEST(Scenario, TextAndParseAreInverse) {
    for (const char* text : {"latency", "throughput", "throughput:8", "cold", "tail:99", "tail:99.9",
                             "latency,streams:2", "throughput:16,streams:4", "tail:90,streams:3"})
        EXPECT_EQ(Scenario::parse(text).text(), text);
    EXPECT_EQ(Scenario::parse("streams:2").text(), "latency,streams:2");
    EXPECT_EQ(Scenario::parse("streams:1").text(), "latency");
}

TEST(Scenario, BadTextsAreRefused) {
    for (const char* text : {"", "fast", "tail", "tail:100", "tail:x", "tail:nan", "throughput:0", "throughput:-1",
                             "cold:3", "streams:0", "streams", "latency,cold", "streams:2,latency", "cold,streams:2",
                             "streams:2,streams:3", "throughput:99999999999999999999"})
        EXPECT_THROW(Scenario::parse(text), UserError) << text;
}

TEST(TailBound, LeastCallsHaveTheLargestAsBound) {
    EXPECT_EQ(least_tail_calls(0.99), 459);
    EXPECT_EQ(least_tail_calls(0.9), 44);
    std::vector<int64_t> ns(459);
    for (size_t k = 0; k < ns.size(); ++k) ns[k] = static_cast<int64_t>(k);
    EXPECT_EQ(tail_bound_ns(ns, 0.99), 458);
}

// Of many samples at most 1 % may have a bound below the true quantile; an order statistic one lower would have more.
TEST(TailBound, HoldsWithItsConfidence) {
    constexpr int runs = 4000, calls = 300;
    constexpr double p = 0.9;
    Rng rng(7);
    int below = 0;
    for (int run = 0; run < runs; ++run) {
        std::vector<int64_t> ns(calls);
        for (int64_t& one : ns) one = static_cast<int64_t>(1e9 * rng.unit());
        below += tail_bound_ns(ns, p) < static_cast<int64_t>(1e9 * p);
    }
    EXPECT_LE(below, 0.014 * runs);
    EXPECT_GE(below, 0.003 * runs) << "a bound that is too loose";
}

}  // namespace
}  // namespace headway
