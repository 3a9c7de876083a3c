// A step program translated into micro-operations: operands are read where they lie, constants and broadcast scalars
// are folded into the passes, multiply + add and cheap activations are merged, registers become few reused slots.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/pointwise/tile_ops.h"
#include "kernels/program.h"

namespace headway {

struct TileCode {
    // Places that a pass reads or writes: the anchor, the operands, the constants, then the slots.
    struct Step {
        TileFunction function = nullptr;
        uint16_t dst = 0, a = 0, b = 0, c = 0;
        float x = 0, y = 0;
    };
    struct Result {
        uint16_t place = 0;
        // No later pass reads the anchor or an operand: the place may be the dst itself, even where dst is one of them.
        bool direct = false;
    };

    std::vector<Step> steps;
    std::vector<Result> results;
    std::vector<float> constants;
    std::vector<bool> operand_used;
    bool anchor_used = false;
    int slots = 0;

    static constexpr int anchor_place = 0;
    int operand_place(int k) const { return 1 + k; }
    int constant_place(int k) const { return 1 + static_cast<int>(operand_used.size()) + k; }
    int slot_place(int k) const { return constant_place(static_cast<int>(constants.size())) + k; }
    int places() const { return slot_place(slots); }
};

// scalar[k]: operand k is one float for the whole run.
TileCode make_tile_code(const Program& program, const std::vector<bool>& scalar, const TileOps& ops, ExpKind exp);

}  // namespace headway
