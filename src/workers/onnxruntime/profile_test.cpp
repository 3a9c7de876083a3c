// ONNX Runtime's profile as times per node.
#include "workers/onnxruntime/profile.h"

#include <gtest/gtest.h>

namespace headway::ort {
namespace {

TEST(Profile, SumsKernelTimesByNode) {
    const std::vector<StepTime> steps = read_profile(R"([
        {"cat": "Session", "name": "session_initialization", "dur": 900},
        {"cat": "Node", "name": "conv1_fence_before", "dur": 500, "args": {"op_name": "Conv"}},
        {"cat": "Node", "name": "conv1_kernel_time", "dur": 7, "args": {"op_name": "Conv"}},
        {"cat": "Node", "name": "relu_kernel_time", "dur": 1, "args": {"op_name": "Relu"}},
        {"cat": "Node", "name": "conv1_kernel_time", "dur": 3, "args": {"op_name": "Conv"}}])",
                                                     2);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].kernel, "Conv");
    EXPECT_EQ(steps[0].origins, std::vector<std::string>{"conv1"});
    EXPECT_EQ(steps[0].ns, 5000);
    EXPECT_EQ(steps[1].ns, 500);
}

TEST(Profile, OtherTextsAreRefused) {
    for (const char* text : {"", "{}", R"([{"cat": "Node"}])", R"([{"cat": "Node", "name": "a_kernel_time"}])"})
        EXPECT_THROW(read_profile(text, 1), UserError) << text;
}

}  // namespace
}  // namespace headway::ort
