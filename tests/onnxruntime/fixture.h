// What the tests of the builder share: ONNX Runtime where it is installed, and text graphs as ONNX files.
#pragma once

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary.h"
#include "onnx/export.h"
#include "support/graph_engine.h"
#include "workers/builder.h"

namespace headway::testing {

class OnnxRuntimeTest : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            builder_ = make();
        } catch (const UserError& error) {
            GTEST_SKIP() << error.what();
        }
    }

    static std::unique_ptr<Builder> make(const char* name = "onnxruntime") {
        return declared<BuilderKind>().find(name)->make();
    }

    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

    OpenRequest request(const Graph& graph, int threads = 2) {
        write_file_atomically(path("model.onnx"), export_onnx(graph));
        OpenRequest request;
        request.model = path("model.onnx");
        request.threads = threads;
        return request;
    }

    std::string fingerprint(const std::string& route) { return builder_->build(route, path("e.hwe"), "").fingerprint; }

    TemporaryFolder folder_;
    std::unique_ptr<Builder> builder_;
};

}  // namespace headway::testing
