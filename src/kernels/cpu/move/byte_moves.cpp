#include "kernels/cpu/move/byte_moves.h"

#include <algorithm>

#include "kernels/cpu/move/planners.h"

namespace headway {
namespace {

CopyPlanner planner_of(const std::string& op) {
    if (op == "Concat") return plan_concat;
    if (op == "Split") return plan_split;
    if (op == "Slice") return plan_slice;
    return nullptr;
}

}  // namespace

std::vector<ByteMove> byte_moves(const Problem& problem) {
    const CopyPlanner planner = planner_of(problem.op);
    CopyPlan plan;
    if (planner == nullptr || !check_copy(problem, planner) || !planner(problem, &plan)) return {};
    std::vector<ByteMove> moves;
    for (const CopyPlan::Part& part : plan.parts()) {
        const auto run = part.copy.as_run();
        const ByteMove move{static_cast<size_t>(part.src), static_cast<size_t>(part.dst), run ? run->src_at : 0,
                            run ? run->dst_at : 0, run ? run->bytes : 0};
        const bool again = std::ranges::any_of(
            moves, [&](const ByteMove& other) { return other.src == move.src && other.dst == move.dst; });
        if (!run || again) return {};
        moves.push_back(move);
    }
    return moves;
}

}  // namespace headway
