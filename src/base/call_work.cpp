#include "base/call_work.h"

#include <limits>
#include <string>

#include "base/error.h"
#include "base/limits.h"

namespace headway {
namespace {

struct Current {
    int depth = 0;  // of calls in calls
    int64_t spent = 0;
};
thread_local Current current;

}  // namespace

CallWork::CallWork() {
    if (current.depth++ == 0) current.spent = 0;
}

CallWork::~CallWork() { --current.depth; }

void charge_work(int64_t operations) {
    const int64_t limit = limits().work;
    const int64_t left = current.depth == 0 ? limit : limit - current.spent;
    if (operations > left)
        throw UserError("it asks for " + std::to_string(operations) + " operations where " + std::to_string(left) +
                        " are left of the " + std::to_string(limit) + " that one call may take (see --work-limit)");
    if (current.depth > 0) current.spent += operations;
}

void charge_reference_work(int64_t operations) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    charge_work(operations > most / reference_weight ? most : operations * reference_weight);
}

}  // namespace headway
