// Thread pools that run the tiles of one phase. One run at a time owns the engine's pool; the caller is thread 0 of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/checked.h"
#include "kernels/kernel.h"
#include "runtime/plan.h"

namespace headway {

// The tiles of one phase of one step, cut into `chunks` runs of neighbouring tiles.
struct TileJob {
    const Prepared* prepared = nullptr;
    Args args;  // its scratch is that of thread 0
    int64_t scratch_stride = 0;
    int phase = 0;
    int64_t tiles = 0;
    int64_t chunks = 0;

    // On a thread other than the caller's nobody could catch an exception: it ends the program.
    void run(int64_t chunk, int thread) const noexcept {
        Args own = args;
        own.scratch += thread * scratch_stride;
        prepared->run(own, phase, chunk * tiles / chunks, (chunk + 1) * tiles / chunks);
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
