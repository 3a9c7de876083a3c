#include "search/forest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

const Knob<int64_t> a{{.name = "a", .help = "", .family = "kernel", .values = {0, 1, 2, 3}, .witness = ""}};
const Knob<int64_t> b{{.name = "b", .help = "", .family = "kernel", .values = {0, 1}, .witness = ""}};
const Knob<int64_t> noise{{.name = "c", .help = "", .family = "kernel", .values = {0, 1}, .witness = ""}};

class ForestTest : public testing::Test {
protected:
    ForestTest() : registry_({&a, &b, &noise}), space_(RouteSet::all(registry_)) {
        for (int i = 0; i < 64; ++i) points_.push_back({i % 4, i / 4 % 2, i / 8 % 2});
        for (const Point& point : points_) targets_.push_back(truth(point));
    }
    // The second and the fourth value of `a` help, and only beside b=0.
    static double truth(const Point& point) { return point[0] % 2 == 1 && point[1] == 0 ? 0.1 : 0; }

    Registry<KnobBase> registry_;
    Space space_;
    std::vector<Point> points_;
    std::vector<double> targets_;
};

TEST_F(ForestTest, LearnsCategoriesAndInteractions) {
    const Forest forest(space_, points_, targets_, 1);
    for (const Point& point : points_) EXPECT_NEAR(forest.predict(point).mean, truth(point), 0.02);
    EXPECT_GT(forest.importance()[0], 5 * forest.importance()[2]);
    EXPECT_GT(forest.importance()[1], 5 * forest.importance()[2]);
}

TEST_F(ForestTest, SaysLessWhereItSawLess) {
    const Forest forest(space_, std::span(points_).first(3), std::span(targets_).first(3), 1);
    EXPECT_GE(forest.predict({3, 1, 1}).spread, 0);
    const std::vector<double> equal(points_.size(), 0.3);
    const Forest flat(space_, points_, equal, 1);
    EXPECT_NEAR(flat.predict({3, 1, 1}).mean, 0.3, 1e-12);
    EXPECT_NEAR(flat.predict({3, 1, 1}).spread, 0, 1e-6);
    EXPECT_EQ(flat.importance(), std::vector<double>(3, 0.0));
}

TEST_F(ForestTest, TheSameSeedGivesTheSameForest) {
    const Forest one(space_, points_, targets_, 5), two(space_, points_, targets_, 5);
    for (const Point& point : points_) EXPECT_EQ(one.predict(point).mean, two.predict(point).mean);
}

TEST_F(ForestTest, OneRowIsAForest) {
    const Forest forest(space_, std::span(points_).first(1), std::span(targets_).first(1), 1);
    EXPECT_EQ(forest.predict({2, 1, 0}).mean, 0);
}

}  // namespace
}  // namespace headway
