#include "search/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "search/landscape.h"

namespace headway {
namespace {

std::vector<std::string> texts(const std::vector<Proposal>& proposals) {
    std::vector<std::string> texts;
    for (const Proposal& proposal : proposals) texts.push_back(proposal.route.text());
    return texts;
}

double mean_regret(std::string_view name, LandscapeSize size, int builds, int landscapes) {
    double total = 0;
    for (int seed = 1; seed <= landscapes; ++seed) {
        Landscape landscape(size, static_cast<uint64_t>(seed));
        const auto strategy = make_strategy(name, landscape.space(), static_cast<uint64_t>(seed));
        total += landscape.regret(landscape.search(*strategy, builds));
    }
    return total / landscapes;
}

TEST(Strategy, UnknownNamesAreAnError) {
    EXPECT_THROW(make_strategy("magic", {}, 1), UserError);
    for (const std::string& name : strategy_names()) EXPECT_EQ(make_strategy(name, {}, 1)->name(), name);
}

TEST(Strategy, AnEmptySpaceIsFinished) {
    const std::vector<Observation> history{{Route(), Fate::built, "X", 0.0, 0.003}};
    for (const std::string& name : strategy_names())
        EXPECT_TRUE(make_strategy(name, {}, 1)->propose(history, {4, 100}).empty());
}

TEST(Strategy, NeverProposesARouteTwiceNorMoreThanAsked) {
    for (const std::string& name : strategy_names()) {
        Landscape landscape({.knobs = 12, .active = 5}, 3);
        const auto strategy = make_strategy(name, landscape.space(), 1);
        std::vector<Observation> history{landscape.observe(Route())};
        std::set<std::string> seen{""};
        for (int round = 0; round < 40; ++round) {
            const auto proposals = strategy->propose(history, {5, 100});
            EXPECT_LE(proposals.size(), 5u);
            for (const Proposal& proposal : proposals) {
                EXPECT_TRUE(seen.insert(proposal.route.text()).second) << name << " " << proposal.route.text();
                EXPECT_FALSE(proposal.origin.empty());
                history.push_back(landscape.observe(proposal.route));
            }
        }
        EXPECT_LE(strategy->propose(history, {5, 2}).size(), 2u);
        EXPECT_TRUE(strategy->propose(history, {5, 0}).empty());
    }
}

TEST(Strategy, TheSameHistoryGivesTheSameProposals) {
    for (const std::string& name : strategy_names()) {
        Landscape landscape({}, 5);
        const auto strategy = make_strategy(name, landscape.space(), 7);
        const auto history = landscape.search(*strategy, 60);
        for (const size_t length : {size_t{1}, history.size() / 2, history.size()}) {
            const auto part = std::span(history).first(length);
            EXPECT_EQ(texts(strategy->propose(part, {4, 50})),
                      texts(make_strategy(name, landscape.space(), 7)->propose(part, {4, 50})));
        }
    }
}

TEST(Strategy, SmallSpacesAreUsedUp) {
    for (const char* name : {"staged", "random_restarts"}) {
        Landscape landscape({.knobs = 4, .active = 4, .failures = false}, 1);
        const auto history = landscape.search(*make_strategy(name, landscape.space(), 1), 100000);
        const RouteSet space = landscape.space();
        const size_t all =
            std::accumulate(space.axes.begin(), space.axes.end(), size_t{1},
                            [](size_t product, const RouteSet::Axis& axis) { return product * axis.values.size(); });
        EXPECT_GE(history.size() * 10, all * 8) << name;
        EXPECT_NEAR(landscape.regret(history), 0, 0.01) << name;
    }
}

TEST(OneAtATime, TriesEveryValueAloneThePromisingFirst) {
    Landscape landscape({.knobs = 30, .active = 8}, 2);
    const auto strategy = make_strategy("one_at_a_time", landscape.space(), 1);
    const auto history = landscape.search(*strategy, 100000);
    size_t values = 0;
    for (const KnobBase* knob : landscape.knobs()) values += knob->values().size() - 1;
    EXPECT_EQ(history.size(), values + 1);
    const auto family_at = [&](size_t i) {
        return landscape.knobs().find(history[i].route.settings().at(0).knob)->family();
    };
    EXPECT_EQ(family_at(1), "format");
    std::map<std::string_view, double> mean_rank, count;
    for (size_t i = 1; i < history.size(); ++i)
        mean_rank[family_at(i)] += static_cast<double>(i), ++count[family_at(i)];
    for (const auto& [better, worse] : {std::pair("format", "kernel"), {"kernel", "thread"}, {"fusion", "rewrite"}})
        EXPECT_LT(mean_rank[better] / count[better], mean_rank[worse] / count[worse]) << better;
}

TEST(Combinations, JoinWhatHelpedAlone) {
    Landscape landscape({.knobs = 10, .active = 2}, 1);
    const Registry<KnobBase>& knobs = landscape.knobs();
    const auto seen = [&](const std::string& route, double speedup) {
        return Observation{Route::parse(route, knobs), Fate::built, route + "!", speedup, 0.003};
    };
    const std::vector<Observation> history{seen("", 0),           seen("k100=v1", 0.05),  seen("k101=v1", 0.03),
                                           seen("k102=v1", -0.1), seen("k103=v1", 0.001), seen("k104=v1", 0.02)};
    const auto proposals = make_strategy("combinations", landscape.space(), 1)->propose(history, {100, 100});
    ASSERT_FALSE(proposals.empty());
    EXPECT_EQ(proposals[0].route.text(), "k100=v1,k101=v1,k104=v1");
    EXPECT_EQ(proposals[1].route.text(), "k100=v1,k101=v1");
    for (const Proposal& proposal : proposals) {
        EXPECT_EQ(proposal.route.text().find("k102"), std::string::npos);
        EXPECT_EQ(proposal.route.text().find("k103"), std::string::npos);
    }
}

TEST(Strategy, BadValuesAreLeftAlone) {
    Landscape landscape({.knobs = 10, .active = 2}, 1);
    std::vector<Observation> history{{Route(), Fate::built, "X", 0.0, 0.003}};
    history.push_back({Route::parse("k103=v1", landscape.knobs()), Fate::wrong, "Y", std::nullopt, 0});
    history.push_back({Route::parse("k104=v1", landscape.knobs()), Fate::refused, "", std::nullopt, 0});
    for (const auto& proposal : make_strategy("random_restarts", landscape.space(), 1)->propose(history, {200, 1000})) {
        EXPECT_EQ(proposal.route.text().find("k103=v1"), std::string::npos);
        EXPECT_EQ(proposal.route.text().find("k104=v1"), std::string::npos);
    }
}

TEST(Strategy, InertValuesAreRarelyProposedAgain) {
    Landscape landscape({.knobs = 40, .active = 5}, 4);
    const auto history = landscape.search(*make_strategy("staged", landscape.space(), 1), 150);
    size_t duplicates_late = 0;
    std::set<std::string> fingerprints;
    for (size_t i = 0; i < history.size(); ++i) {
        const bool fresh = history[i].fingerprint.empty() || fingerprints.insert(history[i].fingerprint).second;
        if (i >= 100) duplicates_late += !fresh;
    }
    EXPECT_LE(duplicates_late, 15u);
}

TEST(Staged, BeatsRandomAndApproachesTheOptimum) {
    const LandscapeSize size{.knobs = 60, .active = 14};
    const double start = mean_regret("random_restarts", size, 1, 12);
    const double staged = mean_regret("staged", size, 150, 12);
    EXPECT_LT(staged, start / 2);
    EXPECT_LT(staged, mean_regret("random_restarts", size, 150, 12));
}

}  // namespace
}  // namespace headway
