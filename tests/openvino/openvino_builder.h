// A fixture with OpenVINO's builder; its tests are skipped where OpenVINO is not installed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"
#include "tensor/tensor_proto.h"
#include "workers/builder.h"

namespace headway::testing {

class OpenvinoBuilderTest : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            builder_ = declared<BuilderKind>().find("openvino")->make();
        } catch (const UserError& error) {
            GTEST_SKIP() << error.what();
        }
    }

    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

    BuiltEngine build(const std::string& route, const std::string& engine = "engine.hwe") {
        return builder_->build(route, path(engine), path("ledger.json"));
    }

    static Tensor read(const std::string& folder, size_t k) {
        const auto file = std::make_shared<const std::string>(read_file(output(folder, k)));
        return read_tensor_proto(*file, file).tensor;
    }
    static std::string output(const std::string& folder, size_t k) {
        return folder + "/output_" + std::to_string(k) + ".pb";
    }

    // What the built engine gives for a sample folder.
    std::vector<Tensor> outputs_for(const std::string& sample, const std::string& engine = "engine.hwe") {
        builder_->load(path(engine), 1);
        builder_->check(path(engine), sample, path("out"));
        std::vector<Tensor> outputs;
        while (std::filesystem::exists(output(path("out"), outputs.size())))
            outputs.push_back(read(path("out"), outputs.size()));
        return outputs;
    }

    TemporaryFolder folder_;
    std::unique_ptr<Builder> builder_;
};

}  // namespace headway::testing
