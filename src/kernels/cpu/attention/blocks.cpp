#include "kernels/cpu/attention/blocks.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {
namespace {

constexpr int64_t float_bytes = sizeof(float);

}  // namespace

const Knob<int64_t> query_block_knob{{
    .name = "attention.query_block",
    .help =
        "Queries of an attention that are computed together; 0 = as many as keep a block of scores in cache: the first "
        "level's, or the second's where keys and values exceed that. More of them read keys and values less often.",
    .family = "kernel",
    .values = {0, 12, 24, 48, 96, 192},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "attention",
}};

const Knob<int64_t> key_block_knob{{
    .name = "attention.key_block",
    .help = "Keys of an attention that are computed together by attention.algorithm=flash. Fewer keep scores in cache, "
            "more rescale sums less often.",
    .family = "kernel",
    .values = {256, 32, 64, 128, 512, 1024},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "attention",
    .witness_route = "attention.algorithm=flash",
}};

int64_t packed_bytes(const AttentionForm& form) { return form.keys * (form.size + form.value_size) * float_bytes; }

AttentionBlocks choose_blocks(const AttentionForm& form, const Panels& panels, const GemmMicro& micro, bool flash,
                              const Target& target, const Choices& choices) {
    AttentionBlocks blocks;
    blocks.keys = column_blocks(panels, flash ? choices.get(key_block_knob) : std::max<int64_t>(form.keys, 1));
    int64_t widest = 0;
    for (const ColumnBlock& block : blocks.keys) widest = std::max(widest, block.columns);
    // A vector more: rows whose distance is a power of two would share few sets of the cache.
    blocks.score_step = round_up(widest, micro.lanes) + micro.lanes;
    const int64_t tile_rows = micro.rows[2];
    int64_t queries = choices.get(query_block_knob);
    if (queries == 0) {
        // Where keys and values of a head do not stay in the second-level cache, more queries must share each visit.
        const bool far = packed_bytes(form) > target.l2_bytes / 2;
        const int64_t most = far ? 192 : 96;
        const int64_t room = far ? target.l2_bytes / 4 : target.l1_bytes / 2;
        queries = std::clamp(room / (blocks.score_step * float_bytes), tile_rows, most);
    }
    const int64_t count = std::max<int64_t>(form.queries, 1);
    blocks.queries = std::min(count, round_up(ceil_div(count, ceil_div(count, queries)), tile_rows));
    return blocks;
}

}  // namespace headway
