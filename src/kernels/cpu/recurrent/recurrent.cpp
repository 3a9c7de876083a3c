#include "kernels/cpu/recurrent/recurrent.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/recurrent/input_products.h"
#include "kernels/cpu/recurrent/recurrence.h"

namespace headway {
namespace {

const Knob<std::string_view> recurrent_weights{{
    .name = "recurrent.weights",
    .help = "Format of the packed weights of LSTM, GRU and RNN. Few rows are bound by reading them: bf16 halves the "
            "bytes.",
    .family = "format",
    .values = {"f32", "bf16"},
    .numerics = Numerics::reduced,
    .scope = Scope::site,
    .witness = "lstm",
}};

const Knob<std::string_view> recurrent_split{{
    .name = "recurrent.split",
    .help =
        "How threads share a recurrent cell: each walks all steps of a direction and some rows of the batch alone "
        "(direction), or all meet after every step and share the hidden units (units). `auto` takes the first where "
        "it occupies all threads.",
    .family = "thread",
    .values = {"auto", "direction", "units"},
    .scope = Scope::site,
    .witness = "gru",
}};

const Knob<int64_t> recurrent_rows_knob{{
    .name = "recurrent.rows",
    .help = "Most rows of a batch that a recurrent cell takes through its weights together: six read them a sixth as "
            "often; fewer leave more registers for sums, which narrow instruction sets lack.",
    .family = "kernel",
    .values = {recurrent_rows, 1, 2, 3},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "lstm_batch",
}};

const Knob<int64_t> recurrent_blocks_knob{{
    .name = "recurrent.blocks",
    .help = "Blocks of 16 hidden units that are one unit of scheduling where threads share them. One balances best; "
            "more saves hand-overs, a large part of a step where the hidden size is small.",
    .family = "kernel",
    .values = {1, 2, 4, 16},
    .scope = Scope::site,
    .witness = "lstm_batch",
}};

const Knob<std::string_view> recurrent_exp{{
    .name = "recurrent.exp",
    .help = "The polynomial of a recurrent cell's sigmoid and tanh: of degree 6 (about 1 ulp) or of degree 4 (relative "
            "error 3e-6). The cells are a large part of a step where the hidden size is small.",
    .family = "kernel",
    .values = {"poly6", "poly4"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "lstm_batch",
}};

const Knob<std::string_view> recurrent_sweep{{
    .name = "recurrent.sweep",
    .help =
        "Order of the blocks of recurrent weights over the steps of a walk: forwards and backwards by turns, so that "
        "a step begins with what the cache still holds of the step before, or always forwards.",
    .family = "memory",
    .values = {"turning", "forward"},
    .scope = Scope::site,
    .witness = "gru",
}};

RecurrentWeights weights_format(const Choices& choices) {
    return choices.get(recurrent_weights) == "bf16" ? RecurrentWeights::bf16 : RecurrentWeights::f32;
}

RecurrentProblem recurrent_problem(const Problem& problem) {
    RecurrentProblem recurrent;
    HEADWAY_CHECK(RecurrentProblem::make(problem, recurrent));
    return recurrent;
}

// What depends on the algorithm: blobs are biases, blocks of weights, for `sequence` the input's matrices, and then the
// initial states that are constant.
enum Blob : int { biases, blocks, input_matrices };
int first_state(RecurrentAlgorithm algorithm) { return algorithm == RecurrentAlgorithm::step ? 2 : 3; }

RecurrentBlocks recurrent_blocks(RecurrentAlgorithm algorithm, const RecurrentProblem& recurrent,
                                 const Choices& choices) {
    return {recurrent, weights_format(choices), algorithm == RecurrentAlgorithm::step ? recurrent.inputs : 0};
}

Recurrence::Options options_of(RecurrentAlgorithm algorithm, const Choices& choices) {
    return {weights_format(choices), choices.get(recurrent_exp) == "poly4" ? RecurrentExp::poly4 : RecurrentExp::poly6,
            choices.get(recurrent_rows_knob), Blob::blocks, first_state(algorithm)};
}

// How many tiles walk through all steps of a direction on their own, each with its share of the batch; 0: units are
// shared instead.
int64_t walkers(const Recurrence& recurrence, const Target& target, const Choices& choices) {
    const int64_t directions = recurrence.problem().directions, groups = recurrence.groups();
    const std::string_view split = choices.get(recurrent_split);
    if (split == "units" || (split == "auto" && directions * groups < target.threads)) return 0;
    return std::min(groups, ceil_div(target.threads, directions));
}

class RecurrentPrepared final : public Prepared {
public:
    RecurrentPrepared(RecurrentAlgorithm algorithm, const Problem& problem, const Target& target,
                      const Choices& choices, const RecurrentOps& ops, const GemmMicro& micro)
        : problem_(recurrent_problem(problem)),
          format_(weights_format(choices)),
          ops_(ops),
          blocks_(recurrent_blocks(algorithm, problem_, choices)),
          recurrence_(problem, blocks_, ops, options_of(algorithm, choices)),
          together_(std::min(problem_.blocks(), choices.get(recurrent_blocks_knob))),
          walkers_(walkers(recurrence_, target, choices)),
          turns_(choices.get(recurrent_sweep) == "turning") {
        if (algorithm == RecurrentAlgorithm::sequence) products_.emplace(problem_, format_, micro, target, choices);
        lay_out_phases();
    }

    int phases() const override { return static_cast<int>(phases_.size()); }
    int64_t tiles(int index) const override {
        const Phase& phase = phases_[static_cast<size_t>(index)];
        if (problem_.batch == 0) return 0;
        if (phase.kind == Phase::initial) return 1;
        if (phase.kind == Phase::products) return products_->tiles(phase.chunk);
        return problem_.directions * (phase.kind == Phase::walk ? walkers_ : unit_tiles());
    }
    int64_t workspace_bytes() const override {
        return products_ ? checked_add(sums_at(), products_->sums_bytes(), "workspace") : recurrence_.state_bytes();
    }
    int64_t scratch_bytes() const override { return products_ ? products_->scratch_bytes() : 0; }

    void run(const Args& args, int index, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) run_tile(args, phases_[static_cast<size_t>(index)], tile);
    }

private:
    using Chunk = InputProducts::Chunk;
    struct Phase {
        enum Kind : uint8_t { initial, products, walk, units } kind;
        int part;      // of units
        int64_t step;  // of units
        Chunk chunk;
    };

    void run_tile(const Args& args, const Phase& phase, int64_t tile) const {
        switch (phase.kind) {
            case Phase::initial:
                return recurrence_.keep_initial(args);
            case Phase::products:
                return multiply_inputs(args, phase.chunk, tile);
            case Phase::walk:
                return walk(args, phase.chunk, tile);
            case Phase::units:
                return share_units(args, phase, tile);
        }
    }

    void lay_out_phases() {
        if (problem_.steps == 0) {
            phases_.push_back({Phase::initial, 0, 0, {0, 0}});
            return;
        }
        const std::vector<Chunk> all{{0, problem_.steps}};
        for (const Chunk& chunk : products_ ? products_->chunks() : all) {
            if (products_) phases_.push_back({Phase::products, 0, 0, chunk});
            if (walkers_ > 0) {
                phases_.push_back({Phase::walk, 0, 0, chunk});
                continue;
            }
            for (int64_t step = chunk.first; step < chunk.first + chunk.count; ++step)
                for (int part = 0; part < problem_.form().parts; ++part)
                    phases_.push_back({Phase::units, part, step, chunk});
        }
    }

    int64_t sums_at() const { return round_up(recurrence_.state_bytes(), 64); }
    float* input_sums(const Args& args) const { return reinterpret_cast<float*>(args.workspace + sums_at()); }

    void multiply_inputs(const Args& args, const Chunk& chunk, int64_t tile) const {
        products_->run(reinterpret_cast<const float*>(args.src[RecurrentProblem::x]), args.packed[input_matrices],
                       reinterpret_cast<const float*>(args.packed[biases]), chunk, tile, args.scratch,
                       input_sums(args));
    }

    void walk(const Args& args, const Chunk& chunk, int64_t tile) const {
        const int64_t direction = tile / walkers_, share = tile % walkers_, groups = recurrence_.groups();
        const int64_t first = share * groups / walkers_, last = (share + 1) * groups / walkers_;
        const int64_t count = problem_.blocks();
        for (int64_t step = chunk.first; step < chunk.first + chunk.count; ++step) {
            const bool backwards = turns_ && step % 2 == 1;
            for (int part = 0; part < problem_.form().parts; ++part)
                for (int64_t i = 0; i < count; ++i)
                    advance_block(args, chunk, {step, direction, backwards ? count - 1 - i : i, part}, first, last);
        }
    }

    int64_t unit_tiles() const { return ceil_div(problem_.blocks(), together_); }  // of a direction
    void share_units(const Args& args, const Phase& phase, int64_t tile) const {
        const int64_t direction = tile / unit_tiles(), first = tile % unit_tiles() * together_;
        const int64_t last = std::min(problem_.blocks(), first + together_);
        for (int64_t block = first; block < last; ++block)
            advance_block(args, phase.chunk, {phase.step, direction, block, phase.part}, 0, recurrence_.groups());
    }

    // Groups [first, last) of rows of a block.
    void advance_block(const Args& args, const Chunk& chunk, const Recurrence::Place& place, int64_t first,
                       int64_t last) const {
        alignas(64) float sums[recurrent_rows * recurrent_sums];
        for (int64_t group = first; group < last; ++group) {
            const Recurrence::Rows rows = recurrence_.group(group);
            start(args, chunk, place, rows, sums);
            recurrence_.advance(args, place, rows, sums);
        }
    }

    // The input's share of the sums: from the products of the chunk, or made here.
    void start(const Args& args, const Chunk& chunk, const Recurrence::Place& place, const Recurrence::Rows& rows,
               float* sums) const {
        const RecurrentForm& form = problem_.form();
        const int64_t gates = form.gates * recurrent_units;
        const int64_t block = place.direction * problem_.blocks() + place.block;
        const float* bias = reinterpret_cast<const float*>(args.packed[biases]);
        const float* from =
            products_ ? products_->of(input_sums(args), chunk, place.direction, place.step, rows.first, place.block)
                      : bias + block * gates;
        const int64_t step = products_ ? products_->row_step() : 0;
        const float* own = bias + problem_.directions * problem_.blocks() * gates + block * recurrent_units;
        for (int r = 0; r < rows.count; ++r) {
            float* to = sums + r * recurrent_sums;
            std::memcpy(to, from + r * step, static_cast<size_t>(gates) * sizeof(float));
            if (form.slots > form.gates) std::memcpy(to + gates, own, recurrent_units * sizeof(float));
        }
        if (products_) return;
        const RecurrentPart& part = form.part[place.part];
        const int64_t time = problem_.backwards(place.direction) ? problem_.steps - 1 - place.step : place.step;
        ops_.accumulate[static_cast<int>(format_)][part.slots - 1](
            args.packed[blocks] + blocks_.inputs_at(place.direction, place.block, place.part),
            reinterpret_cast<const float*>(args.src[RecurrentProblem::x]) +
                (time * problem_.batch + rows.first) * problem_.inputs,
            problem_.inputs, problem_.inputs, rows.count, sums + part.w_slot * recurrent_units);
    }

    RecurrentProblem problem_;
    RecurrentWeights format_;
    const RecurrentOps& ops_;
    RecurrentBlocks blocks_;
    Recurrence recurrence_;
    int64_t together_;  // blocks of a tile where units are shared
    int64_t walkers_;
    bool turns_;
    std::optional<InputProducts> products_;
    std::vector<Phase> phases_;
};

std::vector<Tensor> pack(RecurrentAlgorithm algorithm, const Problem& problem, const Choices& choices,
                         const GemmMicro& micro, std::span<const Tensor* const> constants) {
    using Input = RecurrentProblem::Input;
    const RecurrentProblem recurrent = recurrent_problem(problem);
    const Tensor &w = *constants[Input::w], &r = *constants[Input::r];
    std::vector<Tensor> blobs;
    blobs.push_back(pack_recurrent_biases(recurrent, has_input(problem, Input::b) ? constants[Input::b] : nullptr));
    blobs.push_back(recurrent_blocks(algorithm, recurrent, choices).pack(w, r));
    if (algorithm == RecurrentAlgorithm::sequence)
        blobs.push_back(InputProducts::pack(recurrent, weights_format(choices), micro, w));
    for (size_t i : {Input::initial_h, Input::initial_c})
        if (has_input(problem, i) && problem.constant[i]) blobs.push_back(*constants[i]);
    return blobs;
}

// Products with few rows are bound by the loads of weights; the input's product, of as many rows as there are steps, is
// not.
Work work(RecurrentAlgorithm algorithm, const Problem& problem, const Choices& choices, const GemmMicro& micro) {
    const RecurrentProblem recurrent = recurrent_problem(problem);
    constexpr double walking = 0.5, multiplying = 0.9;  // shares of the peak
    constexpr double cell_flops = 45;                   // of a gate of a hidden unit
    const double columns = static_cast<double>(recurrent.directions * recurrent.columns());
    const double rows = static_cast<double>(recurrent.steps * recurrent.batch);
    const double element = weights_format(choices) == RecurrentWeights::bf16 ? 2 : 4;
    const double passes = static_cast<double>(recurrent.steps) *
                          static_cast<double>(ceil_div(recurrent.batch, choices.get(recurrent_rows_knob)));
    const double w = columns * static_cast<double>(recurrent.inputs);
    const double r = columns * static_cast<double>(recurrent.hidden);
    Work work{.flops = rows * (2 * r + cell_flops * columns), .bytes = element * r * passes, .efficiency = walking};
    if (algorithm == RecurrentAlgorithm::step) {
        work.flops += rows * 2 * w;
        work.bytes += element * w * passes;
        return work;
    }
    const auto chunk = static_cast<double>(InputProducts::rows(recurrent, choices));
    const double sums = std::min<double>(chunk, micro.rows[2]) * 2;  // as matmul.gemm counts them
    work.flops += rows * 2 * w * walking / (multiplying * std::min(1.0, sums / 8));
    work.bytes += element * w * std::ceil(rows / std::max(1.0, chunk)) + 2 * 4 * rows * columns;
    return work;
}

}  // namespace

Kernel::Fields recurrent_fields(RecurrentAlgorithm algorithm, const std::string& isa_word, Isa isa,
                                const RecurrentOps& (*ops)(), const GemmMicro& micro) {
    Kernel::Fields fields;
    fields.algorithm = algorithm == RecurrentAlgorithm::step ? "step" : "sequence";
    fields.name = "recurrent." + fields.algorithm + "." + isa_word;
    fields.help =
        algorithm == RecurrentAlgorithm::step
            ? "LSTM, GRU or RNN, input and hidden values multiplied at each step for 16 hidden units at a time."
            : "LSTM, GRU or RNN, the input of many steps multiplied as one matrix before the steps are walked.";
    fields.ops = {"LSTM", "GRU", "RNN"};
    fields.isa = isa;
    fields.numerics = Numerics::approximates;
    fields.knobs = {&recurrent_weights, &recurrent_rows_knob, &recurrent_blocks_knob,
                    &recurrent_exp,     &recurrent_split,     &recurrent_sweep};
    if (algorithm == RecurrentAlgorithm::sequence)
        for (const KnobBase* knob : InputProducts::knobs()) fields.knobs.push_back(knob);
    fields.supports = [](const Problem& problem, const Target&, const Choices&) {
        RecurrentProblem recurrent;
        return RecurrentProblem::make(problem, recurrent);
    };
    fields.work = [algorithm, &micro](const Problem& problem, const Target&, const Choices& choices) {
        return work(algorithm, problem, choices, micro);
    };
    fields.pack = [algorithm, &micro](const Problem& problem, const Target&, const Choices& choices,
                                      std::span<const Tensor* const> constants) {
        return pack(algorithm, problem, choices, micro, constants);
    };
    fields.prepare = [algorithm, ops, &micro](const Problem& problem, const Target& target,
                                              const Choices& choices) -> std::unique_ptr<Prepared> {
        return std::make_unique<RecurrentPrepared>(algorithm, problem, target, choices, ops(), micro);
    };
    return fields;
}

namespace {

constexpr auto by_step = RecurrentAlgorithm::step, by_sequence = RecurrentAlgorithm::sequence;
const Kernel step_baseline{
    recurrent_fields(by_step, "baseline", Isa::baseline, baseline::recurrent_ops, gemm_micro(Isa::baseline))};
const Kernel step_avx2{recurrent_fields(by_step, "avx2", Isa::avx2, avx2::recurrent_ops, gemm_micro(Isa::avx2))};
const Kernel step_avx512{
    recurrent_fields(by_step, "avx512", Isa::avx512, avx512::recurrent_ops, gemm_micro(Isa::avx512))};
const Kernel sequence_baseline{
    recurrent_fields(by_sequence, "baseline", Isa::baseline, baseline::recurrent_ops, gemm_micro(Isa::baseline))};
const Kernel sequence_avx2{
    recurrent_fields(by_sequence, "avx2", Isa::avx2, avx2::recurrent_ops, gemm_micro(Isa::avx2))};
const Kernel sequence_avx512{
    recurrent_fields(by_sequence, "avx512", Isa::avx512, avx512::recurrent_ops, gemm_micro(Isa::avx512))};

}  // namespace
}  // namespace headway
