#include "sim/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "measure/components.h"
#include "measure/statistics.h"
#include "sim/visit_world.h"

namespace headway {
namespace {

Components components_of(const Noise& noise, int visits) {
    VisitWorld world(noise);
    std::vector<std::vector<double>> ratios;
    const double same = 0;
    for (int i = 0; i < visits; ++i) ratios.push_back(paired_log_ratios(world.visit(std::span(&same, 1)), 1));
    return variance_components(ratios);
}

TEST(Noise, ProfilesHaveNamesOfTheirOwnAndAreFound) {
    std::set<std::string_view> names;
    for (const NoiseProfile& profile : noise_profiles()) {
        EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
        EXPECT_EQ(find_noise(std::string(profile.name)).layout_sd, profile.noise.layout_sd);
    }
    EXPECT_THROW(find_noise("moonlight"), UserError);
}

// Sizes seen on a shared cloud VM: 1 to 1.6 % between rounds, 0.7 % between processes and more.
TEST(Noise, TheCloudIsTheOneThatWasMeasured) {
    const Components cloud = components_of(find_noise("cloud"), 2000);
    EXPECT_GT(cloud.process_sd, 0.006);
    EXPECT_LT(cloud.process_sd, 0.012);
    VisitWorld world(find_noise("cloud"));
    std::vector<double> raw;
    for (int i = 0; i < 4000; ++i) raw.push_back(world.log_block(0));
    EXPECT_GT(lag1_correlation(raw), 0.4);
}

TEST(Noise, ComponentsComeBack) {
    const Components back = components_of(noise_of_components(0.013, 0.008), 3000);
    EXPECT_NEAR(back.round_sd, 0.013, 0.0006);
    EXPECT_NEAR(back.process_sd, 0.008, 0.0006);
}

TEST(VisitWorld, TheSameSeedIsTheSameMachine) {
    for (const NoiseProfile& profile : noise_profiles()) {
        VisitWorld a(profile.noise, 5), b(profile.noise, 5), c(profile.noise, 6);
        const double gain = 0.01;
        const auto rounds = a.visit(std::span(&gain, 1));
        EXPECT_EQ(rounds, b.visit(std::span(&gain, 1)));
        EXPECT_NE(rounds, c.visit(std::span(&gain, 1)));
    }
}

// Whatever disturbs, a gain of 2 % is 2 % on average over many visits.
TEST(VisitWorld, NoProfileIsBiased) {
    for (const NoiseProfile& profile : noise_profiles()) {
        VisitWorld world(profile.noise, 3);
        const std::vector<double> values = world.pair_values(0.02, 4000);
        EXPECT_NEAR(mean(values), 0.02, 4 * standard_error(values)) << profile.name;
        EXPECT_LT(standard_error(values), 0.001) << profile.name;
    }
}

}  // namespace
}  // namespace headway
