#include "measure/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

constexpr double tail_confidence = 0.99;
constexpr int64_t most_batch = 1 << 20;
constexpr int most_streams = 256;
constexpr double least_percentile = 50, most_percentile = 99.99;

[[noreturn]] void fail(const std::string& part) {
    throw UserError("--scenario: " + escaped(part) + ": expected " + scenario_help);
}

template <class T>
T number(const std::string& part, std::string_view word, T low, T high) {
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !(value >= low && value <= high))
        throw UserError("--scenario: " + escaped(part) + ": expected a number from " + fmt::format("{}", low) + " to " +
                        fmt::format("{}", high));
    return value;
}

}  // namespace

Scenario Scenario::parse(std::string_view text) {
    Scenario scenario;
    bool has_kind = false, has_streams = false;
    for (const std::string& part : split(std::string(text), ',')) {
        const size_t colon = part.find(':');
        const std::string name = part.substr(0, colon);
        const std::string argument = colon == std::string::npos ? "" : part.substr(colon + 1);
        if (name == "streams" && colon != std::string::npos && !has_streams) {
            scenario.streams = number(part, argument, 1, most_streams);
            has_streams = true;
            continue;
        }
        if (has_kind || has_streams) fail(part);
        has_kind = true;
        if (name == "throughput") {
            scenario.kind = Kind::throughput;
            if (colon != std::string::npos) scenario.batch = number<int64_t>(part, argument, 1, most_batch);
        } else if (name == "tail" && colon != std::string::npos) {
            scenario.kind = Kind::tail;
            scenario.percentile = number(part, argument, least_percentile, most_percentile);
        } else if (part == "cold") {
            scenario.kind = Kind::cold;
        } else if (part != "latency") {
            fail(part);
        }
    }
    if (scenario.kind == Kind::cold && scenario.streams > 1)
        throw UserError("--scenario: cold caches are for one stream: the others would share what one has loaded");
    return scenario;
}

std::string Scenario::text() const {
    std::string text;
    switch (kind) {
        case Kind::latency:
            text = "latency";
            break;
        case Kind::throughput:
            text = batch > 0 ? fmt::format("throughput:{}", batch) : "throughput";
            break;
        case Kind::cold:
            text = "cold";
            break;
        case Kind::tail:
            text = fmt::format("tail:{}", percentile);
            break;
    }
    return streams > 1 ? fmt::format("{},streams:{}", text, streams) : text;
}

int64_t least_tail_calls(double p) {
    // the largest of n times is below the quantile with probability p^n
    return static_cast<int64_t>(std::ceil(std::log(1 - tail_confidence) / std::log(p)));
}

int64_t tail_bound_ns(std::span<const int64_t> ns, double p) {
    const auto count = static_cast<int64_t>(ns.size());
    HEADWAY_CHECK(p > 0 && p < 1 && count >= least_tail_calls(p));
    // Smallest rank whose time is at least the quantile: fewer than `rank` of all are below it with this confidence.
    const boost::math::binomial below(static_cast<double>(count), p);
    int64_t low = 1, high = count;
    while (low < high) {
        const int64_t rank = (low + high) / 2;
        if (boost::math::cdf(below, static_cast<double>(rank - 1)) >= tail_confidence)
            high = rank;
        else
            low = rank + 1;
    }
    std::vector<int64_t> sorted(ns.begin(), ns.end());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(low - 1);
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
}

}  // namespace headway
