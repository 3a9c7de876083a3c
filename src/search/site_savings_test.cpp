#include "search/site_savings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace headway {
namespace {

const Knob<std::string_view> algorithm{{.name = "conv.algorithm",
                                        .help = "",
                                        .family = "kernel",
                                        .values = {"auto", "direct", "winograd"},
                                        .scope = Scope::site,
                                        .witness = ""}};
const Knob<int64_t> rows{
    {.name = "gemm.mc", .help = "", .family = "kernel", .values = {0, 24}, .scope = Scope::site, .witness = ""}};

const Registry<KnobBase>& knobs() {
    static const Registry<KnobBase> registry({&algorithm, &rows});
    return registry;
}

Observation seen(std::string_view route, double speedup, std::vector<SiteTime> sites = {}) {
    return {Route::parse(route, knobs()), Fate::built, "of " + std::string(route), speedup, 0.003, std::move(sites)};
}

// Winograd loses as a whole, wins at one site; direct wins a little there and more at another.
std::vector<Observation> history() {
    return {seen("", 0),
            seen("conv.algorithm=direct", -0.02, {{"a", 100e3, 90e3}, {"b", 100e3, 70e3}, {"c", 200e3, 300e3}}),
            seen("conv.algorithm=winograd", -0.5, {{"a", 100e3, 40e3}, {"b", 100e3, 500e3}, {"c", 200e3, 199e3}}),
            seen("gemm.mc=24", -0.01, {{"a", 100e3, 100e3}, {"b", 100e3, 100e3}, {"c", 200e3, 150e3}})};
}

std::set<std::string> proposed(const std::vector<Proposal>& proposals) {
    std::set<std::string> texts;
    for (const Proposal& proposal : proposals) texts.insert(proposal.route.text());
    return texts;
}

TEST(SiteSavings, KeepTheBestValueOfEachSite) {
    const Space space(RouteSet::all(knobs()));
    const std::vector<Observation> observed = history();
    const std::vector<SiteSaving> savings = site_savings(Lessons(space, observed));
    ASSERT_EQ(savings.size(), 3u);
    EXPECT_EQ(savings[0].site, "a");
    EXPECT_EQ(savings[0].value, "winograd");
    EXPECT_NEAR(savings[0].share, 0.15, 1e-9);
    EXPECT_EQ(savings[1].site + savings[1].value, "c24");
    EXPECT_EQ(savings[2].site + savings[2].value, "bdirect");
}

TEST(SiteSavings, AreComposedIntoRoutes) {
    const std::vector<Observation> observed = history();
    const auto strategy = make_strategy("sites", RouteSet::all(knobs()), 1);
    const auto routes = proposed(strategy->propose(observed, {8, 100}));
    EXPECT_TRUE(routes.contains("conv.algorithm@a=winograd,conv.algorithm@b=direct,gemm.mc@c=24"));
    EXPECT_TRUE(routes.contains("conv.algorithm@a=winograd"));
    EXPECT_TRUE(routes.contains("conv.algorithm@a=winograd,conv.algorithm@b=direct"));
    EXPECT_TRUE(routes.contains("gemm.mc@c=24"));
}

// What was composed and measured is known again, and can lead and shrink.
TEST(SiteSavings, AComposedRouteCanLead) {
    std::vector<Observation> observed = history();
    const std::string leader = "conv.algorithm@a=winograd,gemm.mc@c=24";
    observed.push_back(seen(leader, 0.2));
    const auto routes =
        proposed(make_strategy("combinations", RouteSet::all(knobs()), 1)->propose(observed, {50, 100}));
    EXPECT_FALSE(routes.contains(leader));
    EXPECT_TRUE(routes.contains("gemm.mc@c=24"));
    EXPECT_TRUE(routes.contains("conv.algorithm@a=winograd"));
}

TEST(SiteSavings, AreNoneWithoutStepTimes) {
    std::vector<Observation> observed = history();
    for (Observation& one : observed) one.sites.clear();
    EXPECT_TRUE(make_strategy("sites", RouteSet::all(knobs()), 1)->propose(observed, {8, 100}).empty());
}

}  // namespace
}  // namespace headway
