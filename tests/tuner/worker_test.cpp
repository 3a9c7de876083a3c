// Each way in which a worker can fail is one WorkerError of the right class, and a healthy worker answers all requests.
#include "workers/client.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace headway {
namespace {

constexpr double patience_s = 20;

class WorkerTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "headway-worker-test-" + std::to_string(::getpid());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::unique_ptr<WorkerClient> start(const std::string& script, int64_t memory_limit = 0) {
        write_file_atomically(folder_ + "/model.json", script);
        WorkerOptions options;
        options.command = {FAKE_WORKER};
        options.scratch = folder_;
        options.memory_limit = memory_limit;
        auto worker = std::make_unique<WorkerClient>(options, patience_s);
        OpenRequest request;
        request.model = folder_ + "/model.json";
        worker->open(request, patience_s);
        return worker;
    }

    // The class of failure when the route `fault` is built.
    Failure build_failure(const std::string& fault, double deadline_s = patience_s, int64_t memory_limit = 0) {
        auto worker =
            start(R"({"knobs":[{"name":"k","values":["0","1"]}],"faults":{"k=1":")" + fault + "\"}}", memory_limit);
        try {
            worker->build("k=1", folder_ + "/e.hwe", "", deadline_s);
        } catch (const WorkerError& error) {
            reason_ = error.what();
            alive_ = worker->alive();
            return error.failure();
        }
        ADD_FAILURE() << "the build went well";
        return Failure::failed;
    }

    std::string folder_, reason_;
    bool alive_ = false;
};

TEST_F(WorkerTest, AnswersEveryRequest) {
    auto worker =
        start(R"({"base_ns":1000,"knobs":[{"name":"k","values":["0","1"]}],"effects":{"k=1":-0.6931471805599453}})");
    EXPECT_EQ(worker->version().name, "native");
    EXPECT_EQ(worker->describe(patience_s).knobs.at(0).values.size(), 2u);
    const std::string engine = folder_ + "/e.hwe";
    const BuiltEngine built = worker->build("k=1", engine, folder_ + "/ledger.json", patience_s);
    EXPECT_EQ(built.bytes, static_cast<int64_t>(std::filesystem::file_size(engine)));
    worker->load(engine, 1, patience_s);
    worker->load(engine, 1, patience_s);
    BlockRequest block;
    block.iterations = 10;
    block.preroll = 2;
    EXPECT_EQ(worker->block(engine, block, patience_s).ns, std::vector<int64_t>{5000});
    block.cold = true;
    EXPECT_EQ(worker->block(engine, block, patience_s).ns, std::vector<int64_t>{5000});
    block = {};
    block.iterations = 300;
    block.per_iteration = true;
    EXPECT_EQ(worker->block(engine, block, patience_s).ns, std::vector<int64_t>(300, 500)) << "a long reply";
    EXPECT_TRUE(worker->snippets(engine, patience_s).empty());
    EXPECT_EQ(worker->profile(engine, 1, patience_s).at(0).origins, std::vector<std::string>{"node"});
    std::filesystem::create_directories(folder_ + "/in");
    write_file_atomically(folder_ + "/in/input_0.pb", "tensor");
    worker->check(engine, folder_ + "/in", folder_ + "/out", patience_s);
    EXPECT_EQ(read_file(folder_ + "/out/output_0.pb"), "tensor");
}

TEST_F(WorkerTest, CarriesLongRoutes) {
    auto worker = start(R"({"knobs":[{"name":"k","values":["0","1"]}]})");
    const std::string route = "k=1,k@/a/" + std::string(5000, 'x') + "=0";
    EXPECT_EQ(worker->build(route, folder_ + "/e.hwe", "", patience_s).route, route);
}

TEST_F(WorkerTest, RefusalLeavesTheWorkerAlive) {
    EXPECT_EQ(build_failure("refuse"), Failure::refused);
    EXPECT_EQ(reason_, "threshold: 3 channels (needs 16)");
    EXPECT_TRUE(alive_);
    EXPECT_EQ(build_failure("unsupported"), Failure::unsupported);
    EXPECT_EQ(build_failure("throw"), Failure::failed);
    EXPECT_TRUE(alive_);
}

TEST_F(WorkerTest, CrashNamesTheSignal) {
    EXPECT_EQ(build_failure("crash"), Failure::crashed);
    EXPECT_NE(reason_.find("signal 6"), std::string::npos) << reason_;
    EXPECT_FALSE(alive_);
}

TEST_F(WorkerTest, HangEndsAtTheDeadline) { EXPECT_EQ(build_failure("hang", 0.2), Failure::timeout); }

TEST_F(WorkerTest, RubbishIsAFailureOfTheWorker) {
    EXPECT_EQ(build_failure("rubbish"), Failure::failed);
    EXPECT_NE(reason_.find("broke the protocol"), std::string::npos) << reason_;
    EXPECT_FALSE(alive_);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve terabytes of address space
TEST_F(WorkerTest, MemoryLimitHolds) {
    EXPECT_EQ(build_failure("memory", patience_s, int64_t{512} << 20), Failure::out_of_memory);
    EXPECT_TRUE(alive_);
}
#endif

TEST_F(WorkerTest, StopInterruptsAHang) {
    std::atomic<bool> stop = true;
    write_file_atomically(folder_ + "/model.json", R"({"knobs":[{"name":"k","values":["0","1"]}]})");
    WorkerOptions options;
    options.command = {FAKE_WORKER};
    options.scratch = folder_;
    options.stop = &stop;
    try {
        WorkerClient worker(options, patience_s);
        OpenRequest request;
        request.model = folder_ + "/model.json";
        worker.open(request, patience_s);
        ADD_FAILURE() << "a stopped client went on";
    } catch (const WorkerError& error) {
        EXPECT_EQ(error.failure(), Failure::interrupted);
    }
}

TEST_F(WorkerTest, MissingProgramIsAUserError) {
    WorkerOptions options;
    options.command = {folder_ + "/no-such-program"};
    options.scratch = folder_;
    EXPECT_THROW(WorkerClient(options, patience_s), UserError);
}

}  // namespace
}  // namespace headway
