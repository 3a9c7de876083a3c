#include "base/limits.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace headway {
namespace {

class LimitsTest : public testing::Test {
protected:
    void TearDown() override { set_limits(before_); }

private:
    Limits before_ = limits();
};

TEST_F(LimitsTest, AreThoseOfTheMachineAtFirst) {
    EXPECT_GT(limits().memory, 1 << 20);
    EXPECT_LT(limits().memory, int64_t{1} << 50);
}

TEST_F(LimitsTest, ClaimsTogetherStayBelow) {
    set_limits({.memory = 100});
    EXPECT_THROW(MemoryClaim(101), UserError);
    {
        const MemoryClaim first(60);
        EXPECT_THROW(MemoryClaim(41), UserError);
        const MemoryClaim second(40);
        EXPECT_THROW(MemoryClaim(1), UserError);
    }
    EXPECT_NO_THROW(MemoryClaim(100)) << "what was claimed and what was refused is given back";
    EXPECT_THROW(MemoryClaim(INT64_MAX), UserError);
}

TEST_F(LimitsTest, MovedClaimsCountOnce) {
    set_limits({.memory = 100});
    MemoryClaim kept;
    {
        MemoryClaim made(60);
        kept = std::move(made);
        EXPECT_THROW(MemoryClaim(41), UserError);
        const MemoryClaim taken(std::move(kept));
        EXPECT_THROW(MemoryClaim(41), UserError);
    }
    EXPECT_NO_THROW(MemoryClaim(100));
}

}  // namespace
}  // namespace headway
