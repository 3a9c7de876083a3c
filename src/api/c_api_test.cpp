// Through the shared library only, as a user would.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "headway/headway.h"

namespace {

const char* const sample = HEADWAY_TEST_DATA "/engine_v1.hwe";

class CApi : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(hw_engine_load(sample, &engine), HW_OK) << hw_last_error();
        ASSERT_EQ(hw_context_create(engine, &context), HW_OK) << hw_last_error();
    }
    void TearDown() override {
        hw_context_free(context);
        hw_engine_free(engine);
    }
    hw_engine* engine = nullptr;
    hw_context* context = nullptr;
    std::array<float, 4> x{1, 2, 3, 4}, y{10, 20, 30, 40}, out{};
};

TEST_F(CApi, RunsAnEngine) {
    const void* inputs[] = {x.data(), y.data()};
    void* outputs[] = {out.data()};
    ASSERT_EQ(hw_run(context, inputs, 2, outputs, 1), HW_OK) << hw_last_error();
    EXPECT_EQ(out, (std::array<float, 4>{22, 66, 132, 220}));
}

TEST_F(CApi, DescribesItsPorts) {
    ASSERT_EQ(hw_port_count(engine, HW_INPUT), 2U);
    ASSERT_EQ(hw_port_count(engine, HW_OUTPUT), 1U);
    EXPECT_STREQ(hw_port_name(engine, HW_INPUT, 1), "y");
    EXPECT_STREQ(hw_port_name(engine, HW_OUTPUT, 0), "out");
    EXPECT_EQ(hw_port_type(engine, HW_INPUT, 0), HW_F32);
    ASSERT_EQ(hw_port_rank(engine, HW_INPUT, 0), 2U);
    EXPECT_EQ(hw_port_dims(engine, HW_INPUT, 0)[1], 4);
    EXPECT_EQ(hw_port_bytes(engine, HW_OUTPUT, 0), 16U);
    EXPECT_EQ(hw_port_name(engine, HW_INPUT, 2), nullptr);
    EXPECT_EQ(hw_port_bytes(engine, HW_OUTPUT, 1), 0U);
    EXPECT_STREQ(hw_engine_info(engine, "target"), "isa=baseline");
    EXPECT_EQ(std::string(hw_engine_info(engine, "fingerprint")).size(), 32U);
    EXPECT_EQ(hw_engine_info(engine, "colour"), nullptr);
    EXPECT_STREQ(hw_version(), "0.1.0");
}

TEST_F(CApi, RefusesWrongArgumentsWithOneLine) {
    const void* inputs[] = {x.data(), nullptr};
    void* outputs[] = {out.data()};
    EXPECT_EQ(hw_run(context, inputs, 2, outputs, 1), HW_USER_ERROR);
    EXPECT_STREQ(hw_last_error(), "input y is NULL");
    EXPECT_EQ(hw_run(context, inputs, 1, outputs, 1), HW_USER_ERROR);
    EXPECT_STREQ(hw_last_error(), "the engine has 2 inputs, given were 1");
    EXPECT_EQ(hw_run(nullptr, inputs, 1, outputs, 1), HW_USER_ERROR);
    EXPECT_STREQ(hw_last_error(), "context is NULL");
    hw_engine* other = nullptr;
    EXPECT_EQ(hw_engine_load(nullptr, &other), HW_USER_ERROR);
    const std::string other_file = HEADWAY_TEST_DATA "/../CMakeLists.txt";
    EXPECT_EQ(hw_engine_load(other_file.c_str(), &other), HW_USER_ERROR);
    EXPECT_EQ(hw_last_error(), other_file + " is not a Headway engine file");
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(hw_context_create(nullptr, &context), HW_USER_ERROR);
}

TEST_F(CApi, KeepsErrorsPerThread) {
    EXPECT_EQ(hw_engine_load("no-such-file", nullptr), HW_USER_ERROR);
    std::string other = "unset";
    std::thread([&] { other = hw_last_error(); }).join();
    EXPECT_EQ(other, "");
    EXPECT_STREQ(hw_last_error(), "engine is NULL");
}

TEST(CApiOfOpenShapes, TakesTheCallersShapes) {
    hw_engine* engine = nullptr;
    hw_context* context = nullptr;
    ASSERT_EQ(hw_engine_load(HEADWAY_TEST_DATA "/engine_v2.hwe", &engine), HW_OK) << hw_last_error();
    ASSERT_EQ(hw_port_rank(engine, HW_INPUT, 0), 2U);
    EXPECT_EQ(hw_port_dims(engine, HW_INPUT, 0)[0], -1);
    EXPECT_EQ(hw_port_dims(engine, HW_INPUT, 0)[1], 2);
    EXPECT_EQ(hw_port_bytes(engine, HW_INPUT, 0), 0U);
    ASSERT_EQ(hw_context_create(engine, &context), HW_OK);
    hw_engine_free(engine);
    const float values[] = {-2, 1, 5, -3};
    for (const int64_t rows : {2, 1, 2, 0}) {
        const int64_t dims[] = {rows, 2};
        const hw_tensor x{HW_F32, 2, dims, values};
        hw_tensor y{}, places{};
        ASSERT_EQ(hw_run_tensors(context, &x, 1), HW_OK) << hw_last_error();
        ASSERT_EQ(hw_output(context, 0, &y), HW_OK);
        ASSERT_EQ(hw_output(context, 1, &places), HW_OK);
        EXPECT_EQ(y.dims[0], rows);
        ASSERT_EQ(places.rank, 2U);
        EXPECT_EQ(places.dims[1], rows);
        if (rows > 0) EXPECT_EQ(static_cast<const float*>(y.data)[1], 4);
    }
    const int64_t wide[] = {2, 3};
    const hw_tensor wrong{HW_F32, 2, wide, values}, negative{HW_F32, 1, std::array<int64_t, 1>{-1}.data(), values};
    hw_tensor output{};
    EXPECT_EQ(hw_run_tensors(context, &wrong, 1), HW_USER_ERROR);
    EXPECT_STREQ(hw_last_error(), "input x is f32 2x3, the engine takes ?x2");
    EXPECT_EQ(hw_run_tensors(context, &negative, 1), HW_USER_ERROR);
    EXPECT_EQ(hw_output(context, 0, &output), HW_USER_ERROR);
    EXPECT_STREQ(hw_last_error(), "the last run left 0 outputs");
    const void* inputs[] = {values};
    void* outputs[] = {nullptr, nullptr};
    EXPECT_EQ(hw_run(context, inputs, 1, outputs, 2), HW_USER_ERROR);
    hw_context_free(context);
}

TEST_F(CApi, RunsTensorsOnAnyEngine) {
    const int64_t dims[] = {1, 4};
    const hw_tensor inputs[] = {{HW_F32, 2, dims, x.data()}, {HW_F32, 2, dims, y.data()}};
    hw_tensor output{};
    ASSERT_EQ(hw_run_tensors(context, inputs, 2), HW_OK) << hw_last_error();
    ASSERT_EQ(hw_output(context, 0, &output), HW_OK);
    EXPECT_EQ(static_cast<const float*>(output.data)[3], 220);
}

}  // namespace
