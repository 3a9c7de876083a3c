// Shapes, values and timing inputs of a request, for models of another runtime.
#include "workers/foreign/opening.h"

#include <gtest/gtest.h>

#include "base/temporary.h"

namespace headway {
namespace {

std::vector<PortSpec> ports() {
    return {{"x", ElementType::f32, std::vector<int64_t>{-1, 3}, {}}, {"n", ElementType::i64, std::nullopt, {}}};
}

OpenRequest bound_request() {
    OpenRequest request;
    request.shapes = {{"x", {2, 3}}};
    request.values = {{"n", {16000}}};
    return request;
}

std::string reason_of(const OpenRequest& request) {
    try {
        timing_inputs(request, bind_ports(request, ports()));
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(Opening, GeneratesInputsForBoundPorts) {
    const OpenRequest request = bound_request();
    const std::vector<Tensor> inputs = timing_inputs(request, bind_ports(request, ports()));
    ASSERT_EQ(inputs.size(), 2u);
    EXPECT_EQ(inputs[0].shape(), (Shape{2, 3}));
    EXPECT_EQ(inputs[1].to_int64(), std::vector<int64_t>{16000});
    EXPECT_EQ(inputs[0].hash(), timing_inputs(request, bind_ports(request, ports()))[0].hash());
}

TEST(Opening, TheSampleIsMatchedByNameThenByPlace) {
    const TemporaryFolder folder;
    OpenRequest request;
    request.timing_data = folder.path() + "/sample";
    const Tensor x = Tensor::of<float>({1, 3}, std::vector<float>{1, 2, 3}), n = Tensor::scalar<int64_t>(5);
    for (const std::vector<NamedTensor>& inputs :
         {std::vector<NamedTensor>{{"n", n}, {"x", x}}, std::vector<NamedTensor>{{"", x}, {"", n}}}) {
        write_sample(request.timing_data, inputs, std::vector<NamedTensor>{{"y", x}});
        const std::vector<Tensor> read = timing_inputs(request, bind_ports(request, ports()));
        EXPECT_EQ(read.at(0).hash(), x.hash());
        EXPECT_EQ(read.at(1).hash(), n.hash());
    }
    write_sample(request.timing_data, std::vector<NamedTensor>{{"", n}, {"", n}}, {});
    EXPECT_NE(reason_of(request).find("\"x\""), std::string::npos) << reason_of(request);
}

TEST(Opening, ContradictionsNameTheInput) {
    EXPECT_NE(reason_of({}).find("\"x\", \"n\""), std::string::npos);
    OpenRequest request = bound_request();
    request.shapes = {{"x", {2, 4}}};
    EXPECT_NE(reason_of(request).find("input x"), std::string::npos);
    request.shapes = {{"y", {2, 4}}};
    EXPECT_NE(reason_of(request).find("named y"), std::string::npos);
    request = bound_request();
    request.shapes.push_back({"n", {2}});
    EXPECT_NE(reason_of(request).find("2 elements"), std::string::npos);
}

TEST(Opening, OnlyThisMachineIsATarget) {
    OpenRequest request;
    request.threads = 3;
    EXPECT_EQ(target_here(request).threads, 3);
    request.target = Target::native().text();
    EXPECT_EQ(target_here(request).threads, 3);
    Target other = Target::native();
    other.l2_bytes += 1;
    request.target = other.text();
    EXPECT_THROW(target_here(request), Unsupported);
}

}  // namespace
}  // namespace headway
