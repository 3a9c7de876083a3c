// The parent's side of the protocol: one worker process. Every call either answers within its deadline or throws a
// WorkerError of one class; after a crash, a timeout or rubbish the process group is dead and later calls say so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "workers/builder.h"
#include "workers/protocol.h"

namespace headway {

class Subprocess;

class WorkerError : public std::runtime_error {
public:
    WorkerError(Failure failure, const std::string& reason) : std::runtime_error(reason), failure_(failure) {}
    Failure failure() const { return failure_; }

private:
    Failure failure_;
};

// The worker's process ended by itself or by someone's hand. Which of them, nobody can tell.
constexpr bool died(Failure failure) { return failure == Failure::crashed || failure == Failure::out_of_memory; }

// For requests that must not fail for a stranger's sake (the system's out-of-memory killer takes whom it likes): made
// once more, with a new worker, when the worker died. What dies twice is to blame itself.
template <class Request>
auto asked_twice(Request request) {
    try {
        return request();
    } catch (const WorkerError& error) {
        if (!died(error.failure())) throw;
    }
    return request();
}

struct WorkerOptions {
    std::vector<std::string> command;  // as {"/proc/self/exe", "worker", "--builder", "native"}
    std::string scratch;               // an existing folder for long messages
    int64_t memory_limit = 0;          // bytes of address space; 0 = none
    int64_t environment_padding = 0;   // bytes of environment and of heap that shift the memory layout of one visit
    int64_t heap_padding = 0;
    const std::atomic<bool>* stop = nullptr;  // becomes true when the user wants to end
};

class WorkerClient {
public:
    // Starts the process and says hello. UserError when the program cannot be started.
    WorkerClient(WorkerOptions options, double deadline_s);
    ~WorkerClient();

    const BuilderVersion& version() const { return version_; }
    void set_stop(const std::atomic<bool>* stop) { options_.stop = stop; }
    bool alive() const { return process_ != nullptr; }
    pid_t pid() const;

    OpenedModel open(const OpenRequest& request, double deadline_s);
    BuilderDescription describe(double deadline_s);
    BuiltEngine build(const std::string& route, const std::string& engine, const std::string& ledger,
                      double deadline_s);
    void load(const std::string& engine, int streams, double deadline_s);
    void check(const std::string& engine, const std::string& data, const std::string& out, double deadline_s);
    BlockTimes block(const std::string& engine, const BlockRequest& request, double deadline_s);
    std::vector<StepTime> profile(const std::string& engine, int64_t iterations, double deadline_s);
    void reference(const std::string& data, const std::string& out, double deadline_s);
    std::vector<Snippet> snippets(const std::string& engine, double deadline_s);
    void certify(const std::string& engine, const std::string& json, double deadline_s);

private:
    nlohmann::json ask(nlohmann::json request, double deadline_s);
    [[noreturn]] void give_up(Failure failure, const std::string& reason);
    [[noreturn]] void explain_end();

    WorkerOptions options_;
    std::unique_ptr<Subprocess> process_;
    BuilderVersion version_;
    int64_t next_id_ = 1;
};

}  // namespace headway
