// One visit: rounds of interleaved blocks over fresh processes. How a block runs is the caller's business (a worker
// process, a fake in tests); order, dropping and the visit's values are decided here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "measure/block_plan.h"
#include "measure/rounds.h"

namespace headway {

class BlockRunner {
public:
    virtual ~BlockRunner() = default;
    // `preroll` untimed iterations, then the time of `iterations` in a row.
    virtual int64_t block_ns(int engine, int64_t iterations, int64_t preroll) = 0;
};

// Looks at the machine before and after each round.
class RoundGuard {
public:
    virtual ~RoundGuard() = default;
    virtual void begin_round() = 0;
    // Why the whole round has to go, if it has to. `round_ns` is its duration.
    virtual std::optional<std::string> end_round(int64_t round_ns) = 0;
};

struct Visit {
    std::vector<RoundOrder> orders;
    std::vector<RoundTimes> rounds;                 // of every round, dropped ones too
    std::vector<std::optional<std::string>> drops;  // per round: why it was dropped

    std::vector<RoundTimes> kept() const;
    int dropped() const;
};

// Engine 0 is the reference. `guard` may be null.
Visit run_visit(int engines, int rounds, const BlockPlan& plan, BlockRunner& runner, RoundGuard* guard, Rng& rng);

}  // namespace headway
