#include "kernels/cpu/attention/attention.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "kernels/cpu/attention/blocks.h"
#include "kernels/cpu/attention/packing.h"

namespace headway {
namespace {

const Knob<int64_t> direct_queries{{
    .name = "attention.direct_queries",
    .help = "Most queries of a head for which keys and values are read where they lie. More of them share the cost of "
            "packing keys and values for register tiles.",
    .family = "kernel",
    .values = {4, 0, 1, 2, 8, 16},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "attention_decode",
}};

constexpr int64_t float_bytes = sizeof(float);
constexpr float no_score = -std::numeric_limits<float>::infinity();

class AttentionPrepared final : public Prepared {
public:
    AttentionPrepared(const GemmMicro& micro, const AttentionOps& ops, const CopyOps& copies, bool flash,
                      const Problem& problem, const Target& target, const Choices& choices)
        : micro_(micro),
          ops_(ops),
          copies_(copies),
          form_(form_of(problem)),
          direct_(reads_in_place(form_, choices)),
          key_panels_(micro, form_.size, form_.keys),
          value_panels_(micro, form_.keys, form_.value_size),
          blocks_(choose_blocks(form_, key_panels_, micro, flash, target, choices)),
          constant_(problem.constant),
          heads_(form_.heads()),
          query_blocks_(ceil_div(form_.queries, blocks_.queries)) {
        // Each head's keys and values are packed by the tile that uses them, unless too few heads keep all threads
        // busy.
        constexpr int64_t heads_per_thread = 4;
        packs_in_tile_ =
            !direct_ && (query_blocks_ <= 1 || target.threads == 1 || heads_ >= heads_per_thread * target.threads);
        layout_scratch();
    }

    int phases() const override { return direct_ || packs_in_tile_ ? 1 : 2; }
    int64_t tiles(int phase) const override {
        if (form_.y_shape.elements() == 0) return 0;
        return phase + 1 < phases() || packs_in_tile_ ? heads_ : heads_ * query_blocks_;
    }
    int64_t workspace_bytes() const override {
        return phases() == 1 ? 0 : checked_mul(heads_, panel_bytes(), "packed keys and values");
    }
    int64_t scratch_bytes() const override { return scratch_; }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            if (direct_)
                run_directly(args, tile / query_blocks_, tile % query_blocks_);
            else if (packs_in_tile_)
                run_head(args, tile);
            else if (phase == 0)
                pack(args, tile, reinterpret_cast<float*>(args.workspace + tile * panel_bytes()));
            else
                run_block(args, tile / query_blocks_, tile % query_blocks_,
                          reinterpret_cast<const float*>(args.workspace + tile / query_blocks_ * panel_bytes()));
        }
    }

private:
    static AttentionForm form_of(const Problem& problem) {
        AttentionForm form;
        HEADWAY_CHECK(read_attention(problem.attributes, problem.src, form));
        return form;
    }

    static bool reads_in_place(const AttentionForm& form, const Choices& choices) {
        return form.queries <= choices.get(direct_queries) && (form.k.column == 1 || form.size <= 1) &&
               (form.v.column == 1 || form.value_size <= 1);
    }

    // In scratch memory: scaled queries, scores, the state of rows, pointers to rows of queries and scores, packed
    // keys and values.
    void layout_scratch() {
        const auto take = [this](int64_t bytes) {
            const int64_t at = scratch_;
            scratch_ = checked_add(scratch_, round_up(bytes, 64), "scratch memory of an attention");
            return at;
        };
        const int64_t rows = blocks_.queries;
        take(checked_mul(rows, form_.size * float_bytes, "queries"));
        scores_at_ = take(checked_mul(rows, blocks_.score_step * float_bytes, "scores"));
        states_at_ = take(rows * static_cast<int64_t>(sizeof(ScoreRow)));
        pointers_at_ = take(2 * rows * static_cast<int64_t>(sizeof(float*)));
        zeros_at_ = take(GemmMicro::max_vectors * micro_.lanes * float_bytes);
        packed_at_ = take(packs_in_tile_ ? panel_bytes() : 0);
    }

    int64_t panel_bytes() const {
        return (key_panels_.size() + value_panels_.size()) * float_bytes;  // panels end on cache lines
    }

    const std::byte* source(const Args& args, size_t src) const {
        if (!constant_[src]) return args.src[src];
        return args.packed[std::count(constant_.begin(), constant_.begin() + static_cast<int64_t>(src), true)];
    }
    const float* floats(const Args& args, size_t src, const HeadMatrices& matrices, int64_t head) const {
        return reinterpret_cast<const float*>(source(args, src)) + form_.at(matrices, head);
    }

    void pack(const Args& args, int64_t head, float* packed) const {
        pack_keys(key_panels_, form_, floats(args, attention_k, form_.k, head), ops_, copies_, packed);
        pack_values(value_panels_, form_, floats(args, attention_v, form_.v, head), ops_, packed + key_panels_.size());
    }

    void run_head(const Args& args, int64_t head) const {
        auto* packed = reinterpret_cast<float*>(args.scratch + packed_at_);
        pack(args, head, packed);
        for (int64_t block = 0; block < query_blocks_; ++block) run_block(args, head, block, packed);
    }

    // A block of queries of one head, as it is worked on.
    struct Rows {
        int64_t head, first, count;
        float *queries, *scores;
        ScoreRow* states;
        float* y;
    };

    Rows start(const Args& args, int64_t head, int64_t block) const {
        Rows rows{};
        rows.head = head;
        rows.first = block * blocks_.queries;
        rows.count = std::min(blocks_.queries, form_.queries - rows.first);
        rows.queries = reinterpret_cast<float*>(args.scratch);
        rows.scores = reinterpret_cast<float*>(args.scratch + scores_at_);
        rows.states = reinterpret_cast<ScoreRow*>(args.scratch + states_at_);
        rows.y = reinterpret_cast<float*>(args.dst[0]) + form_.at(form_.y, head) + rows.first * form_.y.row;
        const float* q = floats(args, attention_q, form_.q, head) + rows.first * form_.q.row;
        if (form_.q.column == 1 || form_.size == 1) {
            ops_.copy_rows(q, form_.q.row, rows.count, form_.size, form_.scale, rows.queries, form_.size);
        } else {
            for (int64_t r = 0; r < rows.count; ++r)
                for (int64_t i = 0; i < form_.size; ++i)
                    rows.queries[r * form_.size + i] = q[r * form_.q.row + i * form_.q.column] * form_.scale;
        }
        std::fill_n(rows.states, rows.count, ScoreRow{no_score, 0});
        return rows;
    }

    void run_block(const Args& args, int64_t head, int64_t block, const float* packed) const {
        const Rows rows = start(args, head, block);
        const auto** pointers = reinterpret_cast<const float**>(args.scratch + pointers_at_);
        auto* zeros = reinterpret_cast<float*>(args.scratch + zeros_at_);
        std::fill_n(zeros, GemmMicro::max_vectors * micro_.lanes, 0.0F);
        for (int64_t r = 0; r < rows.count; ++r) {
            pointers[r] = rows.queries + r * form_.size;
            pointers[blocks_.queries + r] = rows.scores + r * blocks_.score_step;
        }
        const int64_t most_visible = form_.visible(rows.first + rows.count - 1);
        bool is_first = true;
        for (const ColumnBlock& keys : blocks_.keys) {
            const int64_t visible = std::min(keys.columns, most_visible - keys.column);
            if (visible <= 0 && !is_first) break;
            PanelProduct{micro_, key_panels_, packed, 0, form_.size, keys.panel_begin, keys.panel_end, zeros}.run(
                pointers, rows.count, rows.scores, blocks_.score_step);
            weigh(args, rows, keys, is_first);
            PanelProduct{micro_,
                         value_panels_,
                         packed + key_panels_.size(),
                         keys.column,
                         keys.column + std::max<int64_t>(visible, 1),
                         0,
                         value_panels_.list().size(),
                         is_first ? zeros : nullptr}
                .run(pointers + blocks_.queries, rows.count, rows.y, form_.y.row);
            is_first = false;
        }
        finish(rows);
    }

    // Scores become weights, relative to the largest so far.
    void weigh(const Args& args, const Rows& rows, const ColumnBlock& keys, bool is_first) const {
        for (int64_t r = 0; r < rows.count; ++r) {
            float* scores = rows.scores + r * blocks_.score_step;
            const int64_t visible = std::clamp<int64_t>(form_.visible(rows.first + r) - keys.column, 0, keys.columns);
            const float factor =
                weights_of(args, rows.head, rows.first + r, keys.column, visible, scores, rows.states[r]);
            std::fill(scores + visible, scores + keys.columns, 0.0F);
            if (!is_first && factor != 1) ops_.scale(rows.y + r * form_.y.row, form_.value_size, factor);
        }
    }

    float weights_of(const Args& args, int64_t head, int64_t query, int64_t key, int64_t count, float* scores,
                     ScoreRow& state) const {
        if (form_.mask_kind == AttentionForm::Mask::none) return ops_.exponentials(scores, count, nullptr, state);
        const int64_t at = form_.at(form_.mask, head) + query * form_.mask.row + key;
        const std::byte* mask = source(args, attention_mask);
        if (form_.mask_kind == AttentionForm::Mask::add)
            return ops_.exponentials(scores, count, reinterpret_cast<const float*>(mask) + at, state);
        ops_.hide(scores, count, reinterpret_cast<const uint8_t*>(mask) + at,
                  form_.mask_kind == AttentionForm::Mask::hide, form_.hidden);
        return ops_.exponentials(scores, count, nullptr, state);
    }

    void finish(const Rows& rows) const {
        for (int64_t r = 0; r < rows.count; ++r) {
            const float total = rows.states[r].total;
            float* y = rows.y + r * form_.y.row;
            if (form_.keys == 0 || (form_.nan_to_zero && !(total > 0)))
                std::fill_n(y, form_.value_size, 0.0F);
            else
                ops_.scale(y, form_.value_size, 1 / total);
        }
    }

    void run_directly(const Args& args, int64_t head, int64_t block) const {
        const Rows rows = start(args, head, block);
        const float* k = floats(args, attention_k, form_.k, head);
        const float* v = floats(args, attention_v, form_.v, head);
        for (int64_t r = 0; r < rows.count; ++r) {
            bool is_first = true;
            float* y = rows.y + r * form_.y.row;
            for (const ColumnBlock& keys : blocks_.keys) {
                const int64_t visible =
                    std::clamp<int64_t>(form_.visible(rows.first + r) - keys.column, 0, keys.columns);
                if (visible == 0 && !is_first) break;
                ops_.scores_of_query(rows.queries + r * form_.size, form_.size, k + keys.column * form_.k.row,
                                     form_.k.row, visible, rows.scores);
                const float factor =
                    weights_of(args, head, rows.first + r, keys.column, visible, rows.scores, rows.states[r]);
                if (!is_first && factor != 1) ops_.scale(y, form_.value_size, factor);
                ops_.weigh_values(rows.scores, visible, v + keys.column * form_.v.row, form_.v.row, form_.value_size,
                                  !is_first, y);
                is_first = false;
            }
        }
        finish(rows);
    }

    const GemmMicro& micro_;
    const AttentionOps& ops_;
    const CopyOps& copies_;
    const AttentionForm form_;
    const bool direct_;
    const Panels key_panels_, value_panels_;
    const AttentionBlocks blocks_;
    const std::vector<bool> constant_;
    const int64_t heads_, query_blocks_;
    bool packs_in_tile_ = false;
    int64_t scratch_ = 0, scores_at_ = 0, states_at_ = 0, pointers_at_ = 0, zeros_at_ = 0, packed_at_ = 0;
};

Verdict supports(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (problem.dst.size() != 1 || problem.dst[0].type != ElementType::f32)
        return Verdict::no(Reason::element_type, "needs one output of f32");
    if (problem.dst[0].layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain layouts");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!problem.src[i]) continue;
        if (problem.src[i]->layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain layouts");
        if (i < attention_mask && problem.src[i]->type != ElementType::f32)
            return Verdict::no(Reason::element_type, std::string(to_string(problem.src[i]->type)));
    }
    AttentionForm form;
    if (Verdict verdict = read_attention(problem.attributes, problem.src, form); !verdict) return verdict;
    if (form.y_shape != problem.dst[0].shape) return Verdict::no(Reason::shape, "another output shape");
    if (form.y.column != 1 && form.value_size > 1) return Verdict::no(Reason::layout, "y is not dense in rows");
    if (form.mask_kind != AttentionForm::Mask::none && form.mask.column != 1 && form.keys > 1)
        return Verdict::no(Reason::layout, "the mask is not dense in rows");
    return Verdict::yes();
}

Work work_of(const GemmMicro& micro, bool flash, const Problem& problem, const Target& target, const Choices& choices) {
    AttentionForm form;
    HEADWAY_CHECK(read_attention(problem.attributes, problem.src, form));
    const auto rows = static_cast<double>(form.heads() * form.queries), keys = static_cast<double>(form.keys);
    const Panels key_panels(micro, form.size, form.keys), value_panels(micro, form.keys, form.value_size);
    const double products =
        2 * rows *
        (static_cast<double>(key_panels.padded_n() * form.size) + keys * static_cast<double>(value_panels.padded_n()));
    const double softmax = 30 * rows * keys;
    // Measured on Zen 5 with keys from 16 to 1024: what each head and row costs beside its products, and that a block
    // of keys at a time is 4 to 10 % slower while the scores of a row fit the caches.
    const double efficiency = (flash ? 0.84 : 0.9) * keys / (keys + 24);
    Work work{products + softmax, static_cast<double>(problem.dst[0].bytes()), efficiency};
    for (const auto& src : problem.src)
        if (src) work.bytes += static_cast<double>(src->bytes());
    // Packing reads and writes keys and values once; each block of queries reads them again unless they stay near.
    const AttentionBlocks blocks = choose_blocks(form, key_panels, micro, flash, target, choices);
    const int64_t visits = packed_bytes(form) > target.l2_bytes ? ceil_div(form.queries, blocks.queries) : 1;
    work.bytes += static_cast<double>(form.heads()) * static_cast<double>(packed_bytes(form) * (visits + 1));
    return work;
}

Kernel::Fields fields_of(bool flash, Isa isa, std::string_view isa_name, const GemmMicro& micro,
                         const AttentionOps& (*ops)()) {
    Kernel::Fields fields;
    fields.algorithm = flash ? "flash" : "rows";
    fields.name = "attention." + fields.algorithm + "." + std::string(isa_name);
    fields.help = flash ? "Attention by blocks of keys, sums being rescaled as larger scores appear."
                        : "Attention by blocks of queries, each with all its scores at once.";
    fields.ops = {"headway/StridedAttention"};
    fields.isa = isa;
    fields.numerics = Numerics::approximates;
    fields.knobs = {&query_block_knob, &direct_queries};
    if (flash) fields.knobs.push_back(&key_block_knob);
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); };
    fields.work = [&micro, flash](const Problem& problem, const Target& target, const Choices& choices) {
        return work_of(micro, flash, problem, target, choices);
    };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        std::vector<Tensor> blobs;
        for (size_t i = 0; i < problem.src.size(); ++i)
            if (problem.src[i] && problem.constant[i]) blobs.push_back(*constants[i]);
        return blobs;
    };
    fields.prepare = [&micro, ops, isa, flash](const Problem& problem, const Target& target, const Choices& choices) {
        const CopyOps& copies = isa == Isa::baseline ? baseline::copy_ops() : avx2::copy_ops();
        return std::make_unique<AttentionPrepared>(micro, ops(), copies, flash, problem, target, choices);
    };
    return fields;
}

}  // namespace

Kernel::Fields rows_attention(Isa isa, std::string_view isa_name, const GemmMicro& micro,
                              const AttentionOps& (*ops)()) {
    return fields_of(false, isa, isa_name, micro, ops);
}
Kernel::Fields flash_attention(Isa isa, std::string_view isa_name, const GemmMicro& micro,
                               const AttentionOps& (*ops)()) {
    return fields_of(true, isa, isa_name, micro, ops);
}

namespace {

const Kernel rows_baseline{
    rows_attention(Isa::baseline, "baseline", gemm_micro(Isa::baseline), baseline::attention_ops)};
const Kernel rows_avx2{rows_attention(Isa::avx2, "avx2", gemm_micro(Isa::avx2), avx2::attention_ops)};
const Kernel rows_avx512{rows_attention(Isa::avx512, "avx512", gemm_micro(Isa::avx512), avx512::attention_ops)};
const Kernel flash_baseline{
    flash_attention(Isa::baseline, "baseline", gemm_micro(Isa::baseline), baseline::attention_ops)};
const Kernel flash_avx2{flash_attention(Isa::avx2, "avx2", gemm_micro(Isa::avx2), avx2::attention_ops)};
const Kernel flash_avx512{flash_attention(Isa::avx512, "avx512", gemm_micro(Isa::avx512), avx512::attention_ops)};

}  // namespace
}  // namespace headway
