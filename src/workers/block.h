// How a worker runs one timed block: streams at once, swept caches, and silence afterwards.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "workers/builder.h"
#include "workers/protocol.h"

namespace headway {

// Threads that run one stream each. They live between blocks, as a server's callers do: libraries keep warm state for a
// thread.
class Streams {
public:
    explicit Streams(int count);
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    int count() const { return static_cast<int>(threads_.size()) + 1; }
    // job(0) on the calling thread and job(1) .. job(count - 1) beside it. Returns when all are done; throws what one
    // of them threw.
    void run(const std::function<void(int)>& job);

private:
    void serve(int stream);
    void keep_first_error();

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void(int)>* job_ = nullptr;
    int64_t round_ = 0;
    int running_ = 0;
    bool closing_ = false;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

// The times that BlockRequest asks for. `streams` has as many as the request.
BlockTimes run_block(Builder& builder, const std::string& engine, const BlockRequest& request, Streams& streams,
                     const std::function<int64_t()>& clock);

// Threads of a runtime may spin on for a while after its last call. Returns when this process no longer uses a CPU (or
// after 0.3 s): the next engine's block must not pay for this one's threads.
void wait_for_idle_threads();

}  // namespace headway
