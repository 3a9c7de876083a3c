#include "workers/block.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "measure/cache_sweep.h"
#include "measure/clock.h"

namespace headway {
namespace {

bool has_several_threads() {
    std::error_code error;
    std::filesystem::directory_iterator task("/proc/self/task", error);
    return !error && std::distance(begin(task), end(task)) > 1;
}

// A thread that spins but had to give its CPU to another task counts as well: it will go on.
bool others_want_a_cpu() {
    std::error_code error;
    std::filesystem::directory_iterator task("/proc/self/task", error);
    const std::string self = std::to_string(::gettid());
    for (; !error && task != std::filesystem::directory_iterator(); task.increment(error)) {
        if (task->path().filename() == self) continue;
        std::ifstream file(task->path() / "stat");
        std::string stat;
        std::getline(file, stat);
        // the name in parentheses may hold anything; the state is the field behind it
        const size_t name_end = stat.rfind(')');
        if (name_end != std::string::npos && stat.substr(name_end + 1, 2) == " R") return true;
    }
    return false;
}

std::vector<int64_t> run_cold(Builder& builder, const std::string& engine, const BlockRequest& request,
                              const std::function<int64_t()>& clock) {
    CacheSweep sweep;
    std::vector<int64_t> ns;
    for (int64_t k = 0; k < request.iterations; ++k) {
        sweep.run();
        const int64_t begin = clock();
        builder.run(engine, 1, 0);
        ns.push_back(clock() - begin);
    }
    return ns;
}

}  // namespace

Streams::Streams(int count) {
    for (int stream = 1; stream < count; ++stream) threads_.emplace_back([this, stream] { serve(stream); });
}

Streams::~Streams() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Streams::keep_first_error() {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
}

void Streams::serve(int stream) {
    int64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return closing_ || round_ != seen; });
        if (closing_) return;
        seen = round_;
        const std::function<void(int)>& job = *job_;
        lock.unlock();
        try {
            job(stream);
        } catch (...) {
            keep_first_error();
        }
        lock.lock();
        if (--running_ == 0) changed_.notify_all();
    }
}

void Streams::run(const std::function<void(int)>& job) {
    if (threads_.empty()) return job(0);
    {
        const std::lock_guard lock(mutex_);
        job_ = &job;
        error_ = nullptr;
        running_ = static_cast<int>(threads_.size());
        ++round_;
    }
    changed_.notify_all();
    try {
        job(0);
    } catch (...) {
        keep_first_error();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
    if (error_) std::rethrow_exception(error_);
}

BlockTimes run_block(Builder& builder, const std::string& engine, const BlockRequest& request, Streams& streams,
                     const std::function<int64_t()>& clock) {
    if (request.preroll > 0) streams.run([&](int stream) { builder.run(engine, request.preroll, stream); });
    BlockTimes times;
    std::vector<int64_t>& ns = times.ns;
    const bool alone = !has_several_threads();
    const int64_t wall_before = clock_ns(), cpu_before = thread_cpu_ns();
    if (request.cold) {
        ns = run_cold(builder, engine, request, clock);
    } else if (request.per_iteration) {
        ns.resize(static_cast<size_t>(request.iterations * request.streams));
        streams.run([&](int stream) {
            int64_t* own = ns.data() + stream * request.iterations;
            for (int64_t k = 0; k < request.iterations; ++k) {
                const int64_t begin = clock();
                builder.run(engine, 1, stream);
                own[k] = clock() - begin;
            }
        });
    } else {
        const int64_t begin = clock();
        streams.run([&](int stream) { builder.run(engine, request.iterations, stream); });
        ns.push_back(clock() - begin);
    }
    const int64_t on_cpu = thread_cpu_ns() - cpu_before;
    if (alone) times.lost_ns = std::max<int64_t>(0, clock_ns() - wall_before - on_cpu);
    if (!request.per_iteration && ns.size() > 1) {
        int64_t sum = 0;
        for (const int64_t one : ns) sum += one;
        ns.assign(1, sum);
    }
    return times;
}

void wait_for_idle_threads() {
    constexpr int64_t slice_ns = 1'000'000, idle_ns = 100'000, most_slices = 300;
    if (!has_several_threads()) return;
    for (int64_t slice = 0; slice < most_slices; ++slice) {
        const int64_t before = process_cpu_ns();
        std::this_thread::sleep_for(std::chrono::nanoseconds(slice_ns));
        if (process_cpu_ns() - before < idle_ns && !others_want_a_cpu()) return;
    }
}

}  // namespace headway
