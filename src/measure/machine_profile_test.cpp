#include "measure/machine_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"

namespace headway {
namespace {

double normal(Rng& rng) {
    return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::acos(-1.0) * rng.unit());
}

// A copy with a layout of its own in each visit; the second block of a round is slower by `position`.
std::vector<ControlVisit> made_up_visits(int visits, int rounds, double position) {
    Rng rng(3);
    std::vector<ControlVisit> all;
    for (int v = 0; v < visits; ++v) {
        const double layout = 0.01 * normal(rng);
        ControlVisit visit;
        visit.orders = round_orders(2, rounds, rng);
        for (const RoundOrder& order : visit.orders) {
            RoundTimes times(2);
            for (size_t k = 0; k < 2; ++k) {
                const double log_time = 0.02 * normal(rng) + (order[k] == 1 ? layout : 0) + (k == 1 ? position : 0);
                times[static_cast<size_t>(order[k])] = std::llround(50e6 * std::exp(log_time));
            }
            visit.rounds.push_back(times);
        }
        all.push_back(visit);
    }
    return all;
}

MachineProfile made_up_profile(double position = 0) {
    std::vector<RoundReading> readings(20);
    for (size_t k = 0; k < readings.size(); ++k) readings[k].clock_ghz = 3 + 0.01 * static_cast<double>(k);
    MachineProfile profile = profile_of(made_up_visits(60, 12, position), readings);
    profile.subject = "model \"x\"";
    profile.load_s = 0.4;
    profile.block_s = 0.06;
    profile.threads = 2;
    profile.missing_guards = {"cpufreq"};
    return profile;
}

TEST(MachineProfile, FindsTheComponentsOfTheNoise) {
    const MachineProfile profile = made_up_profile();
    EXPECT_NEAR(profile.components.round_sd, 0.02 * std::sqrt(2.0), 0.002);
    EXPECT_NEAR(profile.components.process_sd, 0.01, 0.003);
    EXPECT_NEAR(profile.lag1, 0, 0.15);
    EXPECT_GT(profile.control_p, 0.01);
    EXPECT_GT(profile.position_p, 0.01);
    EXPECT_NEAR(profile.clock_ghz[1], 3.095, 1e-9);
}

TEST(MachineProfile, SeesAPositionEffect) {
    const MachineProfile profile = made_up_profile(0.03);
    EXPECT_NEAR(profile.position_effect, 0.03, 0.005);
    EXPECT_LT(profile.position_p, 0.01);
    EXPECT_GT(profile.control_p, 0.01) << "orders are balanced, so it cancels";
}

TEST(MachineProfile, MoreVisitsResolveMore) {
    const MachineProfile profile = made_up_profile();
    EXPECT_GT(profile.resolution(8), profile.resolution(16));
    EXPECT_GT(profile.resolution(16), profile.resolution(32));
    EXPECT_GE(profile.best_rounds(), 2);
}

TEST(MachineProfile, JsonAndBack) {
    MachineProfile profile = made_up_profile();
    profile.builder_repeats = true;
    const std::string text = profile_json(profile);
    EXPECT_EQ(profile_json(profile_from_json(text)), text);
}

TEST(MachineProfile, DamageIsAnError) {
    const std::string text = profile_json(made_up_profile());
    EXPECT_THROW(profile_from_json(""), UserError);
    EXPECT_THROW(profile_from_json("{}"), UserError);
    EXPECT_THROW(profile_from_json(text.substr(0, text.size() / 2)), UserError);
    std::string other = text;
    other.replace(other.find("\"version\": 1"), 12, "\"version\": 9");
    EXPECT_THROW(profile_from_json(other), UserError);
    other = text;
    other.replace(other.find("\"block_s\": 0"), 12, "\"block_s\": -1");
    EXPECT_THROW(profile_from_json(other), UserError);
}

TEST(MachineProfile, IsKeptPerMachineAndThreads) {
    std::string folder = (std::filesystem::temp_directory_path() / "profile.XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    EXPECT_FALSE(load_profile(2).has_value());
    const MachineProfile profile = made_up_profile();
    ASSERT_TRUE(store_profile(profile));
    ASSERT_TRUE(load_profile(2).has_value());
    EXPECT_EQ(profile_json(*load_profile(2)), profile_json(profile));
    EXPECT_FALSE(load_profile(1).has_value());
    std::ofstream(profile_path(2)) << "half a fi";
    EXPECT_FALSE(load_profile(2).has_value()) << "a damaged one is made again";
    ::unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headway
