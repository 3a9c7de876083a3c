#include "search/lessons.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

const Knob<int64_t> a{{.name = "a", .help = "", .family = "kernel", .values = {0, 1, 2}, .witness = ""}};
const Knob<int64_t> b{{.name = "b", .help = "", .family = "fusion", .values = {0, 1}, .witness = ""}};
const Knob<int64_t> c{{.name = "c", .help = "", .family = "fusion", .values = {0, 1}, .witness = ""}};

class LessonsTest : public testing::Test {
protected:
    LessonsTest() : registry_({&a, &b, &c}), space_(RouteSet::all(registry_)) {}
    void saw(const std::string& route, const std::string& fingerprint, std::optional<double> speedup = {},
             Fate fate = Fate::built, double error = 0.005) {
        history_.push_back({Route::parse(route, registry_), fate, fingerprint, speedup, error});
    }
    Lessons lessons() const { return Lessons(space_, history_); }

    Registry<KnobBase> registry_;
    Space space_;
    std::vector<Observation> history_;
};

TEST_F(LessonsTest, NothingTeachesNothing) {
    const Lessons empty = lessons();
    EXPECT_EQ(empty.leader(), nullptr);
    EXPECT_EQ(empty.best_point(), space_.start());
    EXPECT_FALSE(empty.tried(space_.start()));
    EXPECT_FALSE(empty.avoided(0, 1));
}

TEST_F(LessonsTest, OneFingerprintMakesValuesAlike) {
    saw("", "X");
    saw("b=1", "X");
    saw("a=1", "Y");
    const Lessons known = lessons();
    EXPECT_TRUE(known.alike_to_start(1, 1));
    EXPECT_FALSE(known.alike_to_start(0, 1));
    EXPECT_EQ(known.simplified({1, 1, 1}), (Point{1, 0, 1}));
    EXPECT_TRUE(known.tried_alike({1, 1, 0}));
    EXPECT_FALSE(known.tried({1, 1, 0}));
    EXPECT_FALSE(known.tried_alike({2, 1, 0}));
}

TEST_F(LessonsTest, TwoValuesMayBeAlikeWithoutTheStart) {
    saw("a=1", "Y");
    saw("a=2", "Y");
    EXPECT_EQ(lessons().simplified({2, 0, 0}), (Point{1, 0, 0}));
    EXPECT_FALSE(lessons().alike_to_start(0, 2));
}

TEST_F(LessonsTest, AContradictionRevives) {
    saw("", "X");
    saw("b=1", "X");
    saw("c=1", "X");
    saw("a=1", "Y");
    saw("a=1,b=1", "Z");
    const Lessons known = lessons();
    EXPECT_FALSE(known.alike_to_start(1, 1)) << "b matters beside a=1";
    EXPECT_TRUE(known.alike_to_start(2, 1));
}

TEST_F(LessonsTest, FailuresCondemn) {
    saw("", "X");
    saw("a=1", "", {}, Fate::refused);
    saw("a=2,b=1", "", {}, Fate::failed);
    const Lessons one = lessons();
    EXPECT_TRUE(one.avoided(0, 1));
    EXPECT_FALSE(one.avoided(0, 2)) << "either of the two may be guilty";
    saw("a=2,c=1", "Q", {}, Fate::wrong);
    saw("b=1,c=1", "R");
    const Lessons two = lessons();
    EXPECT_TRUE(two.avoided(0, 2));
    EXPECT_FALSE(two.avoided(1, 1));
    EXPECT_FALSE(two.avoided(2, 1));
}

TEST_F(LessonsTest, TheLeaderIsBelievedNotLucky) {
    saw("", "X", 0.0);
    saw("a=1", "Y", 0.05, Fate::built, 0.002);
    saw("a=2", "Z", 0.06, Fate::built, 0.03);
    saw("b=1", "W", 0.2, Fate::wrong);
    saw("c=1", "V");
    EXPECT_EQ(lessons().best_point(), (Point{1, 0, 0}));
    EXPECT_NE(lessons().single({0, 2}), nullptr);
    EXPECT_EQ(lessons().single({1, 0}), nullptr);
}

TEST_F(LessonsTest, RoutesOutsideTheSpaceAreTrialsWithoutAPoint) {
    const Space small(RouteSet::parse("a=[0|1]", registry_));
    history_.push_back({Route::parse("b=1", registry_), Fate::built, "X", 0.1, 0.01});
    const Lessons known(small, history_);
    EXPECT_EQ(known.trials(), 1u);
    EXPECT_TRUE(known.rows().empty());
}

}  // namespace
}  // namespace headway
