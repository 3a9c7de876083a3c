#include "measure/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "measure/finalists.h"
#include "sim/visit_world.h"

namespace headway {
namespace {

// Runs a race; returns how many heats it took.
int run(Race& race, VisitWorld& world, const std::vector<double>& gains) {
    int heats = 0;
    for (auto wave = race.next_wave(); !wave.empty(); wave = race.next_wave())
        for (const Heat& heat : wave) {
            std::vector<double> in_heat;
            for (const int candidate : heat) in_heat.push_back(gains[static_cast<size_t>(candidate)]);
            const auto rounds = world.visit(in_heat);
            for (size_t i = 0; i < heat.size(); ++i) race.record(heat[i], visit_value(rounds, static_cast<int>(i) + 1));
            ++heats;
        }
    return heats;
}

TEST(RaceStages, HalveAndThenSpendMoreOnTheLast) {
    const auto stages = race_stages(100, 3);
    ASSERT_EQ(stages.size(), 6u);
    const int visits[] = {2, 2, 3, 4, 5, 6};
    const int keep[] = {50, 25, 13, 7, 3, 3};
    for (size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(stages[i].visits, visits[i]);
        EXPECT_EQ(stages[i].keep, keep[i]);
    }
    EXPECT_EQ(race_stages(3, 3).size(), 2u);
    EXPECT_EQ(race_stages(1, 3).size(), 2u);
    EXPECT_TRUE(race_stages(0, 3).empty());
}

TEST(Race, AWaveVisitsEverySurvivorOnceInHeatsOfFour) {
    Race race(10, {}, 1);
    const auto wave = race.next_wave();
    EXPECT_EQ(wave.size(), 3u);
    std::multiset<int> seen;
    for (const Heat& heat : wave) {
        EXPECT_LE(heat.size(), 4u);
        seen.insert(heat.begin(), heat.end());
    }
    EXPECT_EQ(seen.size(), 10u);
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 10u);
}

TEST(Race, HeatsAreMixedAnew) {
    Race race(8, {.clear_loser = 10}, 1);
    std::map<std::pair<int, int>, int> met;
    int waves = 0;
    for (auto wave = race.next_wave(); waves < 2; wave = race.next_wave(), ++waves)
        for (const Heat& heat : wave)
            for (const int a : heat) {
                race.record(a, 0);
                for (const int b : heat) ++met[{a, b}];
            }
    EXPECT_GT(met.size(), 8u * 4u);
}

TEST(Race, SpendsVisitsOnContenders) {
    VisitWorld world;
    std::vector<double> gains(40, 0.0);
    gains[17] = 0.04;
    gains[5] = -0.3;
    Race race(40, {}, 2);
    run(race, world, gains);
    const auto standings = race.standings();
    EXPECT_EQ(standings[0].candidate, 17);
    EXPECT_GE(standings[0].values.size(), 20u);
    EXPECT_EQ(std::count_if(standings.begin(), standings.end(), [](const Standing& s) { return s.in_race; }), 3);
    const auto slow =
        std::find_if(standings.begin(), standings.end(), [](const Standing& s) { return s.candidate == 5; });
    EXPECT_EQ(slow->values.size(), 1u);
}

// A reference that was disturbed once lifts all of its heat; that says nothing about the other heats.
TEST(Race, ADisturbedReferenceEndsNobodysRace) {
    Race race(8, {}, 1);
    const auto wave = race.next_wave();
    ASSERT_EQ(wave.size(), 2u);
    for (const int candidate : wave[0]) race.record(candidate, 0.15);
    for (const int candidate : wave[1]) race.record(candidate, candidate == wave[1].back() ? -0.06 : 0.0);
    std::set<int> seen;
    for (const Heat& heat : race.next_wave()) seen.insert(heat.begin(), heat.end());
    EXPECT_EQ(seen.size(), 7u);
    EXPECT_FALSE(seen.contains(wave[1].back())) << "behind its own heat";
}

// Ten of a hundred are up to 1.8 % faster: a survivor of the race must be close to the best.
TEST(Race, LosesLittleAgainstTheBest) {
    VisitWorld world;
    double regret = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        std::vector<double> gains(100, 0.0);
        for (size_t i = 0; i < 10; ++i) gains[i] = 0.002 * static_cast<double>(i);
        Race race(100, {}, seed);
        run(race, world, gains);
        regret += (0.018 - gains[static_cast<size_t>(race.standings()[0].candidate)]) / 50;
    }
    EXPECT_LT(regret, 0.005);
}

TEST(Race, SurvivesCrashesAndLostVisits) {
    Race race(5, {}, 1);
    for (const Heat& heat : race.next_wave())
        for (const int candidate : heat) {
            if (candidate == 2)
                race.withdraw(2);
            else if (candidate != 3)
                race.record(candidate, 0.01 * candidate);
        }
    for (auto wave = race.next_wave(); !wave.empty(); wave = race.next_wave())
        for (const Heat& heat : wave)
            for (const int candidate : heat) {
                EXPECT_NE(candidate, 2);
                race.record(candidate, 0.01 * candidate);
            }
    const auto standings = race.standings();
    EXPECT_EQ(standings[0].candidate, 4);
    EXPECT_EQ(standings.back().candidate, 2);
}

TEST(Race, TheSameSeedGivesTheSameHeats) {
    Race a(20, {}, 9), b(20, {}, 9), c(20, {}, 10);
    const auto wave = a.next_wave();
    EXPECT_EQ(wave, b.next_wave());
    EXPECT_NE(wave, c.next_wave());
}

TEST(Finalists, BestFirstAboveTheMargin) {
    const std::vector<Contender> contenders{{.candidate = 0, .values = {0.001, 0.0011}},
                                            {.candidate = 1, .values = {0.03, 0.0301}},
                                            {.candidate = 2, .values = {0.05, 0.0501}},
                                            {.candidate = 3, .values = {}}};
    EXPECT_EQ(choose_finalists(contenders, 0.005), (std::vector<int>{2, 1}));
    EXPECT_EQ(choose_finalists(contenders, 0.005, 1), (std::vector<int>{2}));
    EXPECT_TRUE(choose_finalists(contenders, 0.1).empty());
    EXPECT_TRUE(choose_finalists({}, 0.1).empty());
}

TEST(Finalists, TheSimplestOfTiedOnes) {
    std::vector<Contender> contenders{
        {.candidate = 0, .values = {0.050, 0.052}, .non_default_knobs = 5},
        {.candidate = 1, .values = {0.049, 0.051}, .non_default_knobs = 2, .accuracy_margin = 0.1},
        {.candidate = 2, .values = {0.0495, 0.0515}, .non_default_knobs = 2, .accuracy_margin = 0.5},
        {.candidate = 3, .values = {0.010, 0.012}, .non_default_knobs = 0}};
    EXPECT_EQ(choose_finalists(contenders, 0.005), (std::vector<int>{2, 1, 0}));
}

}  // namespace
}  // namespace headway
