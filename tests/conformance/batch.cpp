#include "batch.h"

#include <time.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/subprocess.h"
#include "workers/channel.h"

namespace headway::conformance {
namespace {

using Json = nlohmann::json;

constexpr size_t longest_line = size_t{16} << 20;
constexpr double end_seconds = 5;
constexpr double look_seconds = 0.5;       // how often a silent child is looked at
constexpr const char* last_mark = "last";  // this field stands in the answer to a request and in no other line

// Details may quote names from a model's file, in whatever encoding.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// One child after the other, each for a batch.
class Line {
public:
    Line(const std::vector<Json>& requests, const BatchLimits& limits, std::atomic<size_t>& next, std::mutex& mutex,
         const Ended& ended)
        : requests_(requests), limits_(limits), next_(next), mutex_(mutex), ended_(ended) {}

    void run() {
        for (size_t k = next_++; k < requests_.size(); k = next_++) {
            if (child_ && handled_ == limits_.batch) {
                child_->finish(end_seconds);
                child_.reset();
            }
            if (!child_) start();
            ++handled_;
            std::vector<Json> lines;
            const Ending ending = ask(requests_[k], lines);
            if (ending.kind != Ending::answered) child_.reset();
            const std::lock_guard<std::mutex> lock(mutex_);
            ended_(k, lines, ending);
        }
        if (child_) child_->finish(end_seconds);
    }

private:
    void start() {
        SubprocessOptions options;
        options.command = {"/proc/self/exe", "--child"};
        options.memory_limit = limits_.memory_bytes;
        child_ = std::make_unique<Subprocess>(options);
        handled_ = 0;
    }

    Ending ask(const Json& request, std::vector<Json>& lines) {
        child_->write_line(text_of(request));
        double begun = cpu_seconds(), seen = begun, idle = 0;
        for (;;) {
            std::string text;
            switch (child_->read_line(text, look_seconds, longest_line)) {
                case Subprocess::Read::line:
                    lines.push_back(Json::parse(text));
                    if (lines.back().contains(last_mark)) return {};
                    begun = seen = cpu_seconds();
                    idle = 0;
                    break;
                case Subprocess::Read::timeout: {
                    const double now = cpu_seconds();
                    idle = now > seen ? 0 : idle + look_seconds;
                    seen = now;
                    if (now - begun < limits_.seconds && idle < limits_.seconds) break;
                    child_->kill();
                    return {Ending::timed_out,
                            "no answer within " + std::to_string(static_cast<int>(limits_.seconds)) + " s"};
                }
                default:
                    const std::string how = child_->finish(end_seconds).text();
                    const std::string last = child_->last_error_line();
                    return {Ending::died, how + (last.empty() ? "" : ": " + last)};
            }
        }
    }

    // CPU time of the child with all its threads.
    double cpu_seconds() const {
        clockid_t clock{};
        timespec used{};
        if (::clock_getcpuclockid(child_->pid(), &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
        return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
    }

    const std::vector<Json>& requests_;
    const BatchLimits& limits_;
    std::atomic<size_t>& next_;
    std::mutex& mutex_;
    const Ended& ended_;
    std::unique_ptr<Subprocess> child_;
    int handled_ = 0;
};

}  // namespace

void run_in_children(const std::vector<Json>& requests, const BatchLimits& limits, const Ended& ended) {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failed;
    std::vector<std::thread> threads;
    for (int j = 0; j < limits.jobs; ++j)
        threads.emplace_back([&] {
            try {
                Line(requests, limits, next, mutex, ended).run();
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                failed = std::current_exception();
                next = requests.size();
            }
        });
    for (std::thread& thread : threads) thread.join();
    if (failed) std::rethrow_exception(failed);
}

int serve_batches(const Handle& handle) {
    Channel channel;
    std::string line;
    while (channel.read_line(line)) {
        Json answer = handle(Json::parse(line), [&](const Json& early) { channel.write_line(text_of(early)); });
        answer[last_mark] = true;
        if (!channel.write_line(text_of(answer))) break;
    }
    return 0;
}

}  // namespace headway::conformance
