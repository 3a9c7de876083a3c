#include "base/call_work.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "base/error.h"
#include "base/limits.h"

namespace headway {
namespace {

class CallWorkTest : public testing::Test {
protected:
    void SetUp() override { set_limits({.memory = before_.memory, .work = 1000}); }
    void TearDown() override { set_limits(before_); }

private:
    const Limits before_ = limits();
};

TEST_F(CallWorkTest, IsCountedOverACall) {
    const CallWork call;
    charge_work(600);
    charge_work(400);
    EXPECT_THROW(charge_work(1), UserError);
    EXPECT_NO_THROW(charge_work(0));
}

TEST_F(CallWorkTest, ACallInsideAnotherIsAPartOfIt) {
    const CallWork outer;
    {
        const CallWork inner;
        charge_work(600);
    }
    EXPECT_THROW(charge_work(401), UserError);
}

TEST_F(CallWorkTest, TheNextCallBeginsAnew) {
    for (int i = 0; i < 3; ++i) {
        const CallWork call;
        EXPECT_NO_THROW(charge_work(1000));
    }
}

TEST_F(CallWorkTest, WithoutACallEachChargeStandsAlone) {
    EXPECT_NO_THROW(charge_work(1000));
    EXPECT_NO_THROW(charge_work(1000));
    EXPECT_THROW(charge_work(1001), UserError);
}

TEST_F(CallWorkTest, WhatIsRefusedIsNotCounted) {
    const CallWork call;
    EXPECT_THROW(charge_work(1001), UserError);
    EXPECT_NO_THROW(charge_work(1000));
}

TEST_F(CallWorkTest, ReferencesCountMore) {
    const CallWork call;
    EXPECT_NO_THROW(charge_reference_work(1000 / reference_weight));
    EXPECT_THROW(charge_reference_work(1), UserError);
    EXPECT_THROW(charge_reference_work(INT64_MAX), UserError) << "without overflow";
}

TEST_F(CallWorkTest, ThreadsCountForThemselves) {
    const CallWork call;
    charge_work(1000);
    std::thread([] { EXPECT_NO_THROW(charge_work(1000)); }).join();
}

}  // namespace
}  // namespace headway
