// The blocks of queries and keys that an attention is cut into.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/attention/form.h"
#include "kernels/cpu/gemm/block.h"

namespace headway {

extern const Knob<int64_t> query_block_knob;
extern const Knob<int64_t> key_block_knob;

struct AttentionBlocks {
    int64_t queries = 1;
    int64_t score_step = 0;  // floats from one row of scores to the next
    std::vector<ColumnBlock> keys;
};

// Of keys and values of one head.
int64_t packed_bytes(const AttentionForm& form);

// `panels` are those of the keys.
AttentionBlocks choose_blocks(const AttentionForm& form, const Panels& panels, const GemmMicro& micro, bool flash,
                              const Target& target, const Choices& choices);

}  // namespace headway
