#include "search/space.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace headway {
namespace {

const Knob<std::string_view> algorithm{{.name = "conv.algorithm",
                                        .help = "",
                                        .family = "kernel",
                                        .values = {"auto", "direct", "winograd"},
                                        .scope = Scope::site,
                                        .witness = ""}};
const Knob<int64_t> group{{.name = "fuse.group", .help = "", .family = "fusion", .values = {16, 1, 4}, .witness = ""}};
const Knob<int64_t> dead{{.name = "x.only", .help = "", .family = "memory", .values = {1}, .witness = ""}};

const Registry<KnobBase>& knobs() {
    static const Registry<KnobBase> registry({&algorithm, &group, &dead});
    return registry;
}
Route parse(std::string_view text) { return Route::parse(text, knobs()); }

TEST(Space, StartsAtTheDefaultsAndRoundTrips) {
    const Space space(RouteSet::all(knobs()));
    EXPECT_EQ(space.start(), (Point{0, 0, 0}));
    EXPECT_EQ(space.route(space.start()), Route());
    EXPECT_EQ(space.point(Route()), space.start());
    EXPECT_EQ(space.route({2, 1, 0}).text(), "conv.algorithm=winograd,fuse.group=1");
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) EXPECT_EQ(space.point(space.route({a, b, 0})), (Point{a, b, 0}));
    EXPECT_EQ(space.text(1, 2), "fuse.group=4");
}

TEST(Space, AFixedKnobIsInEveryRoute) {
    const Space space(RouteSet::parse("conv.algorithm=direct,fuse.group=[4|1]", knobs()));
    EXPECT_EQ(space.route(space.start()).text(), "conv.algorithm=direct,fuse.group=4");
    EXPECT_EQ(space.point(Route()), std::nullopt);
    EXPECT_EQ(space.point(parse("conv.algorithm=direct,fuse.group=1")), (Point{0, 1}));
    EXPECT_EQ(space.point(parse("conv.algorithm=direct,fuse.group=1,conv.algorithm@/a=auto")), std::nullopt);
}

TEST(Space, SitesFollowTheWholeGraphUntilTheySayOtherwise) {
    const Space space(RouteSet::parse("conv.algorithm=[auto|direct],conv.algorithm@/a=[auto|direct]", knobs()));
    EXPECT_EQ(space.route({0, 0}), Route());
    EXPECT_EQ(space.route({1, 1}).text(), "conv.algorithm=direct");
    EXPECT_EQ(space.route({1, 0}).text(), "conv.algorithm=direct,conv.algorithm@/a=auto");
    for (const Point& point : {Point{0, 0}, Point{0, 1}, Point{1, 0}, Point{1, 1}})
        EXPECT_EQ(space.point(space.route(point)), point);
}

TEST(Space, OverlappingSitesAreWrittenOut) {
    const Space space(RouteSet::parse("conv.algorithm@/*=[auto|direct],conv.algorithm@/a=[auto|direct]", knobs()));
    EXPECT_EQ(space.route({1, 0}).text(), "conv.algorithm@/*=direct,conv.algorithm@/a=auto");
    EXPECT_EQ(space.point(space.route({1, 0})), (Point{1, 0}));
}

TEST(Space, RefusesAnAxisTwice) {
    RouteSet set = RouteSet::all(knobs());
    set.axes.push_back(set.axes.front());
    EXPECT_THROW(Space{set}, UserError);
}

}  // namespace
}  // namespace headway
