// The engine's own pool. Each thread has a word with the range of chunks that it is to run: it takes from the front,
// and whoever has run dry takes from the back of another's, so that equal work stays on the thread whose cache knows it
// and a thread that the system has taken away holds up nobody but its current chunk. A claim is one compare-and-swap;
// the job's other fields are read only under a claim, and no job ends before every claim of it is counted as done.
#include <immintrin.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/float_mode.h"
#include "runtime/pin.h"
#include "runtime/threads.h"

namespace headway {
namespace {

using Clock = std::chrono::steady_clock;

// Begin and end chunk of a thread's share, in one word.
constexpr uint64_t pack(uint64_t begin, uint64_t end) { return begin << 32 | end; }
constexpr uint64_t begin_of(uint64_t word) { return word >> 32; }
constexpr uint64_t end_of(uint64_t word) { return word & 0xFFFFFFFF; }
constexpr bool has_work(uint64_t word) { return begin_of(word) < end_of(word); }

constexpr int polls_per_clock_read = 16;
constexpr int polls_before_yield = 4096;  // a waiting caller gives its core to a worker that the system has taken away

class OwnPool final : public Pool {
public:
    explicit OwnPool(const Settings& settings)
        : size_(settings.threads),
          spin_(std::chrono::microseconds(settings.spin_us)),
          steals_(settings.partition != "static"),
          guided_(settings.partition == "guided"),
          yields_(settings.wait == "yield"),
          flush_to_zero_(settings.flush_to_zero),
          pinned_(settings.pin == "compact"),
          shares_(static_cast<size_t>(size_)) {
        workers_.reserve(static_cast<size_t>(size_ - 1));
        for (int i = 1; i < size_; ++i) workers_.emplace_back([this, i] { work(i); });
    }

    ~OwnPool() override {
        stop_.store(true);
        wake();
        for (std::thread& worker : workers_) worker.join();
    }

    bool try_begin() override {
        if (busy_.exchange(true, std::memory_order_acquire)) return false;
        if (sleepers_.load() > 0) wake();
        return true;
    }

    void end() override { busy_.store(false, std::memory_order_release); }

    void run(const TileJob& job, int threads) override {
        job_ = job;
        active_ = threads;
        done_.store(0, std::memory_order_relaxed);
        for (int t = threads - 1; t >= 0; --t) {
            const int64_t begin = t * job.chunks / threads, end = (t + 1) * job.chunks / threads;
            shares_[static_cast<size_t>(t)].word.store(pack(static_cast<uint64_t>(begin), static_cast<uint64_t>(end)));
        }
        if (sleepers_.load() > 0) wake();
        take_part(0, threads);
        for (int polls = 0; done_.load(std::memory_order_acquire) != job.chunks; ++polls) {
            if (polls < polls_before_yield)
                rest();
            else
                ::sched_yield();
        }
    }

private:
    struct alignas(128) Share {
        std::atomic<uint64_t> word{0};
    };

    struct Claim {
        int64_t first = 0, count = 0;
    };

    // A chunk (guided: half of what is left) off the front (the owner's) or the back (another's); none when none is
    // left.
    Claim claim(Share& share, bool own) const {
        uint64_t word = share.word.load(std::memory_order_relaxed);
        while (has_work(word)) {
            const uint64_t begin = begin_of(word), end = end_of(word);
            const uint64_t count = guided_ ? (end - begin + 1) / 2 : 1;
            const uint64_t left = own ? pack(begin + count, end) : pack(begin, end - count);
            if (share.word.compare_exchange_weak(word, left, std::memory_order_acq_rel, std::memory_order_relaxed))
                return {static_cast<int64_t>(own ? begin : end - count), static_cast<int64_t>(count)};
        }
        return {};
    }

    bool run_one(Share& share, bool own, int thread, int& active) {
        const Claim claimed = claim(share, own);
        if (claimed.count == 0) return false;
        active = active_;
        job_.run(claimed.first, claimed.count, thread);
        done_.fetch_add(claimed.count, std::memory_order_release);
        return true;
    }

    void rest() const {
        if (yields_)
            ::sched_yield();
        else
            _mm_pause();
    }

    void take_part(int thread, int active) {
        while (run_one(shares_[static_cast<size_t>(thread)], true, thread, active)) {
        }
        for (int step = 1; step < active && steals_; ++step) {
            Share& other = shares_[static_cast<size_t>((thread + step) % active)];
            while (run_one(other, false, thread, active)) {
            }
        }
    }

    void work(int thread) {
        if (pinned_) pin_to_allowed_cpu(thread);
        const FloatMode mode(flush_to_zero_);
        while (wait_for_work(thread)) take_part(thread, 1);
    }

    // False when the pool ends.
    bool wait_for_work(int thread) {
        const std::atomic<uint64_t>& word = shares_[static_cast<size_t>(thread)].word;
        for (;;) {
            const auto deadline = Clock::now() + spin_;
            do {
                for (int poll = 0; poll < polls_per_clock_read; ++poll) {
                    if (has_work(word.load(std::memory_order_relaxed))) return true;
                    rest();
                }
                if (stop_.load(std::memory_order_relaxed)) return false;
            } while (Clock::now() < deadline);
            park(word);
        }
    }

    // Work that is published before `sleepers_` shows us is seen by the last look; later work wakes us.
    void park(const std::atomic<uint64_t>& word) {
        const uint32_t epoch = epoch_.load();
        sleepers_.fetch_add(1);
        if (!has_work(word.load()) && !stop_.load()) epoch_.wait(epoch);
        sleepers_.fetch_sub(1);
    }

    void wake() {
        epoch_.fetch_add(1);
        epoch_.notify_all();
    }

    const int size_;
    const Clock::duration spin_;
    const bool steals_, guided_, yields_, flush_to_zero_, pinned_;
    std::vector<Share> shares_;
    TileJob job_;
    int active_ = 0;
    alignas(128) std::atomic<int64_t> done_{0};
    alignas(128) std::atomic<uint32_t> epoch_{0};
    std::atomic<int> sleepers_{0};
    std::atomic<bool> busy_{false}, stop_{false};
    std::vector<std::thread> workers_;
};

}  // namespace

std::unique_ptr<Pool> make_own_pool(const Settings& settings) { return std::make_unique<OwnPool>(settings); }

}  // namespace headway
