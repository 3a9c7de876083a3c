// Operators that only move elements, seen as runs of bytes: lets lower place tensors inside each other instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace headway {

// Bytes of one src that are one run in it and in the dst they go to.
struct ByteMove {
    size_t src = 0, dst = 0;
    int64_t src_at = 0, dst_at = 0, bytes = 0;
};

// All that a Concat, Split or Slice moves, one move for each src and dst that share bytes. Empty when some of it is not
// one run, for other operators, and where the bounds of a Slice are not known.
std::vector<ByteMove> byte_moves(const Problem& problem);

}  // namespace headway
