// Thread pools that run the tiles of one phase. One run at a time owns the engine's pool; the caller is thread 0 of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "base/checked.h"
#include "kernels/kernel.h"
#include "runtime/plan.h"

namespace headway {

// The error of the first chunk that failed: the same one whichever threads ran what.
class TileErrors {
public:
    // Inside a handler.
    void keep(int64_t chunk) noexcept {
        const std::lock_guard lock(mutex_);
        if (error_ == nullptr || chunk < chunk_) {
            error_ = std::current_exception();
            chunk_ = chunk;
        }
    }
    // When the job is done; nothing is kept after that.
    void rethrow() {
        if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    std::mutex mutex_;
    std::exception_ptr error_;
    int64_t chunk_ = 0;
};

// The tiles of one phase of one step, cut into `chunks` runs of neighbouring tiles.
struct TileJob {
    const Prepared* prepared = nullptr;
    Args args;  // its scratch is that of thread 0
    int64_t scratch_stride = 0;
    int phase = 0;
    int64_t tiles = 0;
    int64_t chunks = 0;
    TileErrors* errors = nullptr;

    // Data may be wrong for a kernel (an index outside its axis), and only the caller's thread can say so.
    void run(int64_t first, int64_t count, int thread) const noexcept {
        Args own = args;
        own.scratch += thread * scratch_stride;
        try {
            prepared->run(own, phase, first * tiles / chunks, (first + count) * tiles / chunks);
        } catch (...) {
            errors->keep(first);
        }
    }
};

class Pool {
public:
    virtual ~Pool() = default;
    // False while another run owns the pool.
    virtual bool try_begin() = 0;
    virtual void end() = 0;
    // All chunks on at most `threads` threads (2 .. the pool's size); returns when they are done.
    virtual void run(const TileJob& job, int threads) = 0;
};

// settings.threads >= 2.
std::unique_ptr<Pool> make_own_pool(const Settings& settings);
std::unique_ptr<Pool> make_openmp_pool(const Settings& settings);
// The one that the settings ask for.
std::unique_ptr<Pool> make_pool(const Settings& settings);

}  // namespace headway
