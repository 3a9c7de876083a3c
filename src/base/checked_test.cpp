#include "base/checked.h"

#include <gtest/gtest.h>

#include "base/registry.h"
#include "base/verdict.h"

namespace headway {
namespace {

TEST(Checked, OverflowIsAUserError) {
    EXPECT_EQ(checked_mul(3, 4, "x"), 12);
    EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31, "x"), int64_t{1} << 62);
    EXPECT_THROW(checked_mul(int64_t{1} << 32, int64_t{1} << 31, "x"), UserError);
    EXPECT_THROW(checked_mul(-1, 2, "x"), UserError);
    EXPECT_THROW(checked_add(INT64_MAX, 1, "x"), UserError);
    EXPECT_EQ(checked_product({}, "x"), 1);
    EXPECT_EQ(checked_product(std::vector<int64_t>{2, 0, 5}, "x"), 0);
    try {
        checked_product(std::vector<int64_t>{INT64_MAX, 2}, "element count");
        ADD_FAILURE();
    } catch (const UserError& error) {
        EXPECT_STREQ(error.what(), "element count is too large");
    }
}

TEST(Checked, Rounding) {
    EXPECT_EQ(ceil_div(0, 8), 0);
    EXPECT_EQ(ceil_div(9, 8), 2);
    EXPECT_EQ(round_up(16, 8), 16);
    EXPECT_EQ(round_up(17, 8), 24);
}

TEST(Check, BrokenInvariantsNameTheirPlace) {
    try {
        HEADWAY_CHECK(1 + 1 == 3);
        ADD_FAILURE();
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find("checked_test.cpp"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("1 + 1 == 3"), std::string::npos);
    }
}

TEST(Verdicts, EveryReasonHasAWordThatReadsBack) {
    for (int number = 0; number <= static_cast<int>(Reason::accuracy); ++number) {
        const auto reason = static_cast<Reason>(number);
        EXPECT_EQ(reason_from_string(to_string(reason)), reason) << number;
    }
    EXPECT_TRUE(Verdict::yes());
    EXPECT_EQ(Verdict::yes().text(), "yes");
    EXPECT_FALSE(Verdict::no(Reason::shape, "stride 2 (needs 1)"));
    EXPECT_EQ(Verdict::no(Reason::shape, "stride 2 (needs 1)").text(), "shape: stride 2 (needs 1)");
}

struct Named {
    std::string label;
    std::string_view name() const { return label; }
};

TEST(Registries, AreSortedAndRefuseDoubles) {
    const Named b{"b"}, a{"a"}, again{"a"};
    const Registry<Named> registry({&b, &a});
    EXPECT_EQ(registry.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(registry.find("b"), &b);
    EXPECT_EQ(registry.find("c"), nullptr);
    EXPECT_THROW(Registry<Named>({&a, &again}), InternalError);
}

}  // namespace
}  // namespace headway
