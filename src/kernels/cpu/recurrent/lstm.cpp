#include "kernels/cpu/recurrent/lstm.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "kernels/cpu/recurrent/lstm_problem.h"

namespace headway {
namespace {

const Knob<std::string_view> lstm_weights{{
    .name = "lstm.weights",
    .help = "Format of packed LSTM weights. A single step is bound by reading them: bf16 halves the bytes.",
    .family = "format",
    .values = {"f32", "bf16"},
    .numerics = Numerics::reduced,
    .scope = Scope::site,
    .witness = "lstm",
}};

const Knob<int64_t> lstm_rows_knob{{
    .name = "lstm.rows",
    .help = "Most rows of a batch that an LSTM takes through its weights together: three read them a third as often; "
            "fewer leave more registers for sums, which narrow instruction sets lack.",
    .family = "kernel",
    .values = {lstm_rows, 1, 2},
    .scope = Scope::site,
    .witness = "lstm_batch",
}};

const Knob<int64_t> lstm_blocks_knob{{
    .name = "lstm.blocks",
    .help =
        "Blocks of 16 hidden units that are one unit of scheduling in each time step. One balances best; more saves "
        "hand-overs, a large part of a step where the hidden size is small.",
    .family = "kernel",
    .values = {1, 2, 4, 16},
    .scope = Scope::site,
    .witness = "lstm_batch",
}};

const Knob<std::string_view> lstm_exp_knob{{
    .name = "lstm.exp",
    .help = "The polynomial of an LSTM's sigmoid and tanh: of degree 6 (about 1 ulp) or of degree 4 (relative error "
            "3e-6). The cells are a large part of a step where the hidden size is small.",
    .family = "kernel",
    .values = {"poly6", "poly4"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "lstm_batch",
}};

LstmWeights weights_form(const Choices& choices) {
    return choices.get(lstm_weights) == "bf16" ? LstmWeights::bf16 : LstmWeights::f32;
}

// One phase for each time step, one tile for each block of hidden units of each direction. States live in the
// workspace: h of the step before and of this one, and c, rows padded to whole blocks.
class LstmPrepared final : public Prepared {
public:
    LstmPrepared(const Problem& problem, const Choices& choices, const LstmOps& ops)
        : form_(weights_form(choices)),
          ops_(ops),
          cell_(ops.cell[static_cast<int>(choices.get(lstm_exp_knob) == "poly4" ? LstmExp::poly4 : LstmExp::poly6)]),
          most_rows_(choices.get(lstm_rows_knob)),
          together_(choices.get(lstm_blocks_knob)) {
        HEADWAY_CHECK(LstmProblem::make(problem, lstm_));
        groups_ = (lstm_.blocks() + together_ - 1) / together_;
        int packed = 2;
        for (size_t i : {LstmProblem::initial_h, LstmProblem::initial_c}) {
            if (!has_input(problem, i)) continue;
            states_[i - LstmProblem::initial_h] =
                problem.constant[i] ? State{.packed = packed++} : State{.src = static_cast<int>(i)};
        }
        for (size_t i = 0; i < problem.dst.size() && i < 3; ++i)
            wanted_[i] = problem.dst[i].type != ElementType::undefined;
    }

    int phases() const override { return static_cast<int>(std::max<int64_t>(lstm_.steps, 1)); }
    int64_t tiles(int) const override { return lstm_.steps == 0 || lstm_.batch == 0 ? 0 : lstm_.directions * groups_; }
    int64_t workspace_bytes() const override { return 3 * state_floats() * static_cast<int64_t>(sizeof(float)); }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile % groups_ * together_;
            const int64_t last = std::min(lstm_.blocks(), first + together_);
            for (int64_t block = first; block < last; ++block) run_block(args, phase, tile / groups_, block);
        }
    }

private:
    struct State {
        int src = -1, packed = -1;
        const float* of(const Args& args) const {
            if (src >= 0) return reinterpret_cast<const float*>(args.src[src]);
            return packed >= 0 ? reinterpret_cast<const float*>(args.packed[packed]) : nullptr;
        }
    };
    // The rows of a state: [batch], `stride` floats apart.
    struct Rows {
        const float* first = nullptr;
        int64_t stride = 0;
    };

    int64_t state_floats() const { return lstm_.directions * lstm_.batch * lstm_.padded_hidden(); }
    float* workspace(const Args& args, int64_t state, int64_t direction) const {
        return reinterpret_cast<float*>(args.workspace) + state * state_floats() +
               direction * lstm_.batch * lstm_.padded_hidden();
    }
    // State 0 and 1: h, by turns; 2: c. Before the first step: what the caller gave, or nothing for zeros.
    Rows before(const Args& args, int step, int64_t state, size_t initial, int64_t direction) const {
        if (step > 0) return {workspace(args, state, direction), lstm_.padded_hidden()};
        const float* given = states_[initial].of(args);
        return {given == nullptr ? nullptr : given + direction * lstm_.batch * lstm_.hidden, lstm_.hidden};
    }

    void run_block(const Args& args, int step, int64_t direction, int64_t block) const {
        const int64_t time = lstm_.backwards(direction) ? lstm_.steps - 1 - step : step;
        const float* x = reinterpret_cast<const float*>(args.src[0]) + time * lstm_.batch * lstm_.inputs;
        const Rows h = before(args, step, step % 2, 0, direction);
        const int64_t at = direction * lstm_.blocks() + block;
        const float* bias = reinterpret_cast<const float*>(args.packed[0]) + at * lstm_gates;
        const int64_t row_bytes = lstm_gates * (form_ == LstmWeights::bf16 ? 2 : 4);
        const std::byte* weights = args.packed[1] + at * (lstm_.inputs + lstm_.hidden) * row_bytes;
        const auto accumulate = ops_.accumulate[static_cast<int>(form_)];
        for (int64_t row = 0; row < lstm_.batch; row += most_rows_) {
            const int rows = static_cast<int>(std::min(most_rows_, lstm_.batch - row));
            alignas(64) float acc[lstm_rows * lstm_gates];
            for (int r = 0; r < rows; ++r) std::memcpy(acc + r * lstm_gates, bias, sizeof(float) * lstm_gates);
            accumulate(weights, x + row * lstm_.inputs, lstm_.inputs, lstm_.inputs, rows, acc);
            if (h.first != nullptr)
                accumulate(weights + lstm_.inputs * row_bytes, h.first + row * h.stride, h.stride, lstm_.hidden, rows,
                           acc);
            for (int r = 0; r < rows; ++r)
                finish_row(args, step, time, direction, block, row + r, acc + r * lstm_gates);
        }
    }

    void finish_row(const Args& args, int step, int64_t time, int64_t direction, int64_t block, int64_t row,
                    const float* acc) const {
        const int64_t unit = block * lstm_units;
        const int64_t count = std::min(lstm_units, lstm_.hidden - unit);
        const size_t bytes = static_cast<size_t>(count) * sizeof(float);
        alignas(64) float c_before[lstm_units] = {};
        const Rows c = before(args, step, 2, 1, direction);
        if (c.first != nullptr) std::memcpy(c_before, c.first + row * c.stride + unit, bytes);
        const int64_t offset = row * lstm_.padded_hidden() + unit;
        float* c_now = workspace(args, 2, direction) + offset;
        float* h_now = workspace(args, (step + 1) % 2, direction) + offset;
        cell_(acc, c_before, c_now, h_now);
        const int64_t place = (direction * lstm_.batch + row) * lstm_.hidden + unit;
        const auto write = [&](size_t output, int64_t at, const float* from) {
            if (wanted_[output]) std::memcpy(reinterpret_cast<float*>(args.dst[output]) + at, from, bytes);
        };
        write(0, time * lstm_.directions * lstm_.batch * lstm_.hidden + place, h_now);
        if (step + 1 < lstm_.steps) return;
        write(1, place, h_now);
        write(2, place, c_now);
    }

    const LstmWeights form_;
    const LstmOps& ops_;
    const LstmOps::Cell cell_;
    const int64_t most_rows_, together_;
    int64_t groups_ = 1;
    LstmProblem lstm_;
    State states_[2];
    bool wanted_[3] = {};
};

Work work(const Problem& problem, LstmWeights form, int64_t most_rows) {
    LstmProblem lstm;
    if (!LstmProblem::make(problem, lstm)) return {};
    const double weights =
        4.0 * static_cast<double>(lstm.directions * lstm.padded_hidden() * (lstm.inputs + lstm.hidden));
    const auto rows = static_cast<double>(lstm.steps * lstm.batch);
    const double cells = rows * static_cast<double>(lstm.directions * lstm.padded_hidden());
    const double passes =
        static_cast<double>(lstm.steps) * static_cast<double>((lstm.batch + most_rows - 1) / most_rows);
    return {.flops = 2 * weights * rows + 180 * cells,
            .bytes = weights * (form == LstmWeights::bf16 ? 2 : 4) * passes,
            .efficiency = 0.5};
}

}  // namespace

Kernel::Fields lstm_fields(const std::string& isa_word, Isa isa, const LstmOps& (*ops)()) {
    return {
        .name = "lstm.packed." + isa_word,
        .algorithm = "packed",
        .help = "LSTM whose gates are summed for 16 hidden units at a time from weights packed in that order.",
        .ops = {"LSTM"},
        .isa = isa,
        .numerics = Numerics::approximates,
        .knobs = {&lstm_weights, &lstm_rows_knob, &lstm_blocks_knob, &lstm_exp_knob},
        .supports =
            [](const Problem& problem, const Target&, const Choices&) {
                LstmProblem lstm;
                return LstmProblem::make(problem, lstm);
            },
        .work =
            [](const Problem& problem, const Target&, const Choices& choices) {
                return work(problem, weights_form(choices), choices.get(lstm_rows_knob));
            },
        .pack =
            [](const Problem& problem, const Target&, const Choices& choices,
               std::span<const Tensor* const> constants) {
                LstmProblem lstm;
                HEADWAY_CHECK(LstmProblem::make(problem, lstm));
                return pack_lstm(problem, lstm, weights_form(choices), constants);
            },
        .prepare = [ops](const Problem& problem, const Target&, const Choices& choices) -> std::unique_ptr<Prepared> {
            return std::make_unique<LstmPrepared>(problem, choices, ops());
        },
    };
}

namespace {

const Kernel lstm_baseline{lstm_fields("baseline", Isa::baseline, baseline::lstm_ops)};
const Kernel lstm_avx2{lstm_fields("avx2", Isa::avx2, avx2::lstm_ops)};
const Kernel lstm_avx512{lstm_fields("avx512", Isa::avx512, avx512::lstm_ops)};

}  // namespace
}  // namespace headway
