#include "measure/bench_result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace headway {
namespace {

TEST(BenchResult, JsonHasTheFieldsThatScriptsRelyOn) {
    BenchResult result;
    result.engines.push_back(
        summarise_times("a.hwe", std::vector<double>{3, 1, 2, 4, 5}, Scenario::parse("throughput:6,streams:2")));
    result.comparisons.push_back(
        {"a.hwe", "onnxruntime:m.onnx", {.finding = Finding::faster, .speedup = {1.5, 1.4, 1.6}, .resolution = 0.01}});
    result.machine_json = R"({"cpu":"x"})";
    const auto json = nlohmann::json::parse(bench_json(result));
    EXPECT_EQ(json["engines"][0]["engine"], "a.hwe");
    EXPECT_EQ(json["engines"][0]["median_ms"], 3.0);
    EXPECT_NEAR(json["engines"][0]["p5_ms"].get<double>(), 1.2, 1e-12);
    EXPECT_NEAR(json["engines"][0]["p95_ms"].get<double>(), 4.8, 1e-12);
    const auto& comparison = json["comparisons"][0];
    EXPECT_EQ(comparison["against"], "onnxruntime:m.onnx");
    EXPECT_EQ(comparison["speedup"], 1.5);
    EXPECT_EQ(comparison["low"], 1.4);
    EXPECT_EQ(comparison["high"], 1.6);
    EXPECT_EQ(comparison["verdict"], "FASTER");
    EXPECT_EQ(comparison["resolution"], 0.01);
    EXPECT_EQ(comparison["why"], "none");
    EXPECT_EQ(json["machine"]["cpu"], "x");
    EXPECT_EQ(json["engines"][0]["samples_per_s"], 4000.0) << "2 callers, 6 samples a call, 3 ms";
    EXPECT_EQ(json["scenario"], "latency");
}

TEST(BenchResult, NoComparisonsAndOddNames) {
    BenchResult result;
    result.engines.push_back(summarise_times("\xFF\n\"", std::vector<double>{1}, {}));
    const auto json = nlohmann::json::parse(bench_json(result));
    EXPECT_TRUE(json["comparisons"].is_array());
    EXPECT_TRUE(json["machine"].is_object());
    EXPECT_EQ(bench_json(result).find('\n'), std::string::npos);
}

TEST(BenchResult, OnlyNumbers) {
    BenchResult result;
    result.comparisons.push_back({"a", "b", {.speedup = {NAN, 1, 1}}});
    EXPECT_THROW(bench_json(result), InternalError);
}

}  // namespace
}  // namespace headway
