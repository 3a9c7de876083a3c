#include "measure/bench_result.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/statistics.h"

namespace headway {
namespace {

// JSON knows no NaN or infinity, and scripts rely on numbers.
double finite(double number) {
    HEADWAY_CHECK(std::isfinite(number));
    return number;
}

}  // namespace

BenchEngine summarise_times(std::string engine, std::span<const double> call_ms, const Scenario& scenario) {
    const double samples = static_cast<double>(std::max<int64_t>(1, scenario.batch) * scenario.streams);
    return {std::move(engine), median(call_ms), quantile(call_ms, 0.05), quantile(call_ms, 0.95),
            1000 * samples / median(call_ms)};
}

std::string bench_json(const BenchResult& result) {
    using Json = nlohmann::ordered_json;
    Json engines = Json::array();
    for (const BenchEngine& engine : result.engines)
        engines.push_back({{"engine", engine.engine},
                           {"median_ms", finite(engine.median_ms)},
                           {"p5_ms", finite(engine.p5_ms)},
                           {"p95_ms", finite(engine.p95_ms)},
                           {"samples_per_s", finite(engine.samples_per_s)}});
    Json comparisons = Json::array();
    for (const BenchComparison& comparison : result.comparisons)
        comparisons.push_back({{"engine", comparison.engine},
                               {"against", comparison.against},
                               {"speedup", finite(comparison.result.speedup.center)},
                               {"low", finite(comparison.result.speedup.low)},
                               {"high", finite(comparison.result.speedup.high)},
                               {"verdict", to_string(comparison.result.finding)},
                               {"resolution", finite(comparison.result.resolution)},
                               {"why", to_string(comparison.result.why)},
                               {"log_speedups", comparison.log_speedups}});
    const Json json{{"scenario", result.scenario},
                    {"engines", engines},
                    {"comparisons", comparisons},
                    {"guards",
                     {{"rounds", result.guards.rounds},
                      {"dropped", result.guards.dropped},
                      {"fired", result.guards.fired},
                      {"most_steal", finite(result.guards.most_steal)},
                      {"missing", result.guards.missing}}},
                    {"machine", Json::parse(result.machine_json)}};
    // engine names come from the command line and may hold any bytes
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headway
