// Tiles on an OpenMP team, for engines with a provider that brings its own OpenMP threads: one team for both.
#include <omp.h>

#include <atomic>

#include "runtime/float_mode.h"
#include "runtime/threads.h"

namespace headway {
namespace {

class OpenmpPool final : public Pool {
public:
    explicit OpenmpPool(const Settings& settings) : flush_to_zero_(settings.flush_to_zero) {}

    bool try_begin() override { return !busy_.exchange(true, std::memory_order_acquire); }
    void end() override { busy_.store(false, std::memory_order_release); }

    void run(const TileJob& job, int threads) override {
        std::atomic<int64_t> next{0};
#pragma omp parallel num_threads(threads)
        {
            const FloatMode mode(flush_to_zero_);
            for (int64_t chunk = next.fetch_add(1); chunk < job.chunks; chunk = next.fetch_add(1))
                job.run(chunk, 1, omp_get_thread_num());
        }
    }

private:
    const bool flush_to_zero_;
    std::atomic<bool> busy_{false};
};

}  // namespace

std::unique_ptr<Pool> make_openmp_pool(const Settings& settings) { return std::make_unique<OpenmpPool>(settings); }

}  // namespace headway
