// DynamicQuantizeLSTM: exact products of 8-bit integers, of the whole input first, then of the hidden values step by
// step. Each tile of a step quantises all hidden values for itself: that is cheap beside its share of the weights.
#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "kernels/cpu/integer/dynamic_lstm_problem.h"
#include "kernels/cpu/integer/byte_range.h"

namespace headway {
namespace {

struct Ops {
    const IntegerMicro& integer;
    const QuantizeOps& quantize;
    const RecurrentCells& cells;
};

Ops ops_of(const IntegerIsa& isa) {
    constexpr auto poly6 = static_cast<size_t>(RecurrentExp::poly6);
    if (isa.isa == Isa::avx512) return {isa.micro, avx512::quantize_ops, avx512::recurrent_ops().cells[poly6]};
    if (isa.isa == Isa::avx2) return {isa.micro, avx2::quantize_ops, avx2::recurrent_ops().cells[poly6]};
    return {isa.micro, baseline::quantize_ops, baseline::recurrent_ops().cells[poly6]};
}

// Two panels: i, o and f, c of 16 units.
constexpr int64_t block_panels = recurrent_sums / IntegerMicro::columns;
constexpr int64_t float_size = static_cast<int64_t>(sizeof(float));

class DynamicLstm final : public Prepared {
public:
    DynamicLstm(const Ops& ops, const Problem& problem, const Choices& choices)
        : ops_(ops), tile_rows_(choices.get(integer_rows_knob)) {
        HEADWAY_CHECK(DynamicLstmProblem::make(problem, lstm_));
        size_t blob = DynamicLstmProblem::states;
        for (size_t i = 0; i < 2; ++i) {
            const size_t input = DynamicLstmProblem::initial_h + i;
            has_state_[i] = input < problem.src.size() && problem.src[input].has_value();
            if (has_state_[i] && problem.constant[input]) state_blob_[i] = static_cast<int>(blob++);
        }
        for (size_t i = 0; i < problem.dst.size(); ++i) wanted_[i] = problem.dst[i].type != ElementType::undefined;
        rows_ = lstm_.steps * lstm_.batch;
        row_blocks_ = ceil_div(rows_, tile_rows_);
        state_floats_ = lstm_.directions * lstm_.batch * lstm_.padded_hidden();
        // The input as integers with the sums of its rows, its products, then hidden values (twice, by turns) and
        // cells.
        values_at_ = 64;
        row_sums_at_ = values_at_ + round_up(checked_mul(rows_, lstm_.w_panels().row_bytes(), "LSTM"), 64);
        products_at_ = row_sums_at_ + round_up(rows_ * float_size, 64);
        states_at_ = products_at_ + checked_mul(lstm_.directions * rows_, lstm_.columns() * float_size, "LSTM");
    }

    // The input as integers; its products; the steps.
    int phases() const override { return static_cast<int>(2 + lstm_.steps); }
    int64_t tiles(int phase) const override {
        if (phase == 0) return 1;
        return lstm_.directions * lstm_.blocks() * (phase == 1 ? row_blocks_ : 1);
    }
    int64_t workspace_bytes() const override { return states_at_ + 3 * state_floats_ * float_size; }
    int64_t scratch_bytes() const override { return hidden_room().bytes(); }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        if (phase == 0) {
            if (begin < end) prepare_input(args);
            return;
        }
        if (phase == 1) {
            for (int64_t tile = begin; tile < end; ++tile)
                multiply_input(args, tile / row_blocks_ / lstm_.blocks(), tile / row_blocks_ % lstm_.blocks(),
                               tile % row_blocks_);
            return;
        }
        for (int64_t tile = begin; tile < end;) {
            const int64_t direction = tile / lstm_.blocks();
            const int64_t last = std::min(end, (direction + 1) * lstm_.blocks());
            run_step(args, phase - 2, direction, tile % lstm_.blocks(), last - direction * lstm_.blocks());
            tile = last;
        }
    }

private:
    using Part = DynamicLstmProblem::Part;

    IntegerRowRoom hidden_room() const { return {lstm_.r_panels(), lstm_.batch}; }
    template <class T>
    static const T* blob(const Args& args, size_t matrix, Part part) {
        return reinterpret_cast<const T*>(args.packed[matrix + part]);
    }
    float* products(const Args& args, int64_t direction, int64_t row) const {
        return reinterpret_cast<float*>(args.workspace + products_at_) + (direction * rows_ + row) * lstm_.columns();
    }
    // States of one direction: [sequence][padded_hidden]. Hidden values before step s are of parity s % 2.
    float* hidden(const Args& args, int64_t parity, int64_t direction) const { return state(args, parity, direction); }
    float* cells(const Args& args, int64_t direction) const { return state(args, 2, direction); }
    float* state(const Args& args, int64_t which, int64_t direction) const {
        return reinterpret_cast<float*>(args.workspace + states_at_) + which * state_floats_ +
               direction * lstm_.batch * lstm_.padded_hidden();
    }

    void prepare_input(const Args& args) const {
        auto* range = reinterpret_cast<ByteRange*>(args.workspace);
        const auto* x = reinterpret_cast<const float*>(args.src[DynamicLstmProblem::x]);
        *range = ByteRange::of(ops_.quantize, x, rows_ * lstm_.inputs);
        auto* values = reinterpret_cast<uint8_t*>(args.workspace + values_at_);
        auto* sums = reinterpret_cast<int32_t*>(args.workspace + row_sums_at_);
        const int64_t step = lstm_.w_panels().row_bytes();
        for (int64_t row = 0; row < rows_; ++row)
            sums[row] = quantize_row(*range, x + row * lstm_.inputs, lstm_.inputs, step, values + row * step);
        std::memset(state(args, 0, 0), 0, static_cast<size_t>(3 * state_floats_ * float_size));
        for (size_t i = 0; i < 2; ++i) {
            if (!has_state_[i]) continue;
            const size_t input = DynamicLstmProblem::initial_h + i;
            const auto* from =
                reinterpret_cast<const float*>(state_blob_[i] >= 0 ? args.packed[state_blob_[i]] : args.src[input]);
            float* to = i == 0 ? hidden(args, 0, 0) : cells(args, 0);
            for (int64_t row = 0; row < lstm_.directions * lstm_.batch; ++row)
                std::copy_n(from + row * lstm_.hidden, lstm_.hidden, to + row * lstm_.padded_hidden());
        }
    }

    // The row as integers, padded with zeros; their sum.
    int32_t quantize_row(const ByteRange& range, const float* x, int64_t n, int64_t step, uint8_t* to) const {
        range.quantize(ops_.quantize, x, n, to);
        std::fill(to + n, to + step, uint8_t{0});
        return ops_.integer.move_row(to, n, 0, to);
    }

    // finish(row, column, sums as numbers) for the panels of one block.
    template <class Finish>
    void multiply_block(const Args& args, size_t matrix, const IntegerPanels& shape, ElementType type,
                        const ByteRange& range, const IntegerRows& rows, int64_t direction, int64_t block,
                        Finish&& finish) const {
        const int64_t columns = lstm_.columns();
        const auto* sums = blob<int32_t>(args, matrix, Part::sums) + direction * columns;
        const auto* scales = blob<float>(args, matrix, Part::scales) + direction * columns;
        const IntegerZeros zeros{static_cast<int32_t>(range.zero),
                                 blob<std::byte>(args, matrix, Part::zeros) + direction * columns, type, true};
        for (int64_t panel = block * block_panels; panel < (block + 1) * block_panels; ++panel) {
            const IntegerColumns terms = columns_of_panel(shape, panel, sums, zeros);
            float scale[IntegerMicro::columns];
            for (int64_t j = 0; j < terms.width; ++j) scale[j] = range.scale * scales[terms.first + j];
            multiply_panel(ops_.integer, shape, rows, panel,
                           blob<int8_t>(args, matrix, Part::panels) + direction * shape.bytes(), terms,
                           [&](int64_t row, const IntegerRow& values) { finish(row, terms.first, values, scale); });
        }
    }

    void multiply_input(const Args& args, int64_t direction, int64_t block, int64_t row_block) const {
        const int64_t first = row_block * tile_rows_, step = lstm_.w_panels().row_bytes();
        const IntegerRows rows{reinterpret_cast<const uint8_t*>(args.workspace + values_at_) + first * step, step,
                               reinterpret_cast<const int32_t*>(args.workspace + row_sums_at_) + first,
                               std::min(tile_rows_, rows_ - first)};
        const auto& range = *reinterpret_cast<const ByteRange*>(args.workspace);
        const auto* bias =
            reinterpret_cast<const float*>(args.packed[DynamicLstmProblem::bias]) + direction * lstm_.columns();
        multiply_block(args, DynamicLstmProblem::w_first, lstm_.w_panels(), lstm_.w_type, range, rows, direction, block,
                       [&](int64_t row, int64_t column, const IntegerRow& values, const float* scale) {
                           ops_.integer.finish_f32(values, scale, bias + column,
                                                   products(args, direction, first + row) + column);
                       });
    }

    // Blocks [begin, end) of one direction.
    void run_step(const Args& args, int64_t step, int64_t direction, int64_t begin, int64_t end) const {
        const int64_t padded = lstm_.padded_hidden();
        const float* before = hidden(args, step % 2, direction);
        // Padding is 0, which every range holds.
        const ByteRange range = ByteRange::of(ops_.quantize, before, lstm_.batch * padded);
        const IntegerRows rows = hidden_room().rows(args.scratch, lstm_.batch, [&](int64_t sequence, uint8_t* to) {
            return quantize_row(range, before + sequence * padded, lstm_.hidden, lstm_.hidden, to);
        });
        const int64_t time = lstm_.backwards(direction) ? lstm_.steps - 1 - step : step;
        for (int64_t block = begin; block < end; ++block) {
            // Sums of hidden values come on top of those of the input, in place.
            multiply_block(args, DynamicLstmProblem::r_first, lstm_.r_panels(), lstm_.r_type, range, rows, direction,
                           block, [&](int64_t row, int64_t column, const IntegerRow& values, const float* scale) {
                               float* sums = products(args, direction, time * lstm_.batch + row) + column;
                               ops_.integer.finish_f32(values, scale, sums, sums);
                           });
            for (int64_t sequence = 0; sequence < lstm_.batch; ++sequence)
                update(args, step, time, direction, block, sequence);
        }
    }

    void update(const Args& args, int64_t step, int64_t time, int64_t direction, int64_t block,
                int64_t sequence) const {
        const int64_t first = block * recurrent_units, count = std::min(recurrent_units, lstm_.hidden - first);
        const int64_t at = sequence * lstm_.padded_hidden() + first;
        float* cell = cells(args, direction) + at;
        float* fresh = hidden(args, (step + 1) % 2, direction) + at;
        ops_.cells.lstm(products(args, direction, time * lstm_.batch + sequence) + block * recurrent_sums, cell, cell,
                        fresh);
        const int64_t row = direction * lstm_.batch + sequence;
        const auto give = [&](size_t output, int64_t to, const float* from) {
            if (wanted_[output])
                std::copy_n(from, count, reinterpret_cast<float*>(args.dst[output]) + to * lstm_.hidden + first);
        };
        give(0, time * lstm_.directions * lstm_.batch + row, fresh);
        if (step + 1 < lstm_.steps) return;
        give(1, row, fresh);
        give(2, row, cell);
    }

    Ops ops_;
    int64_t tile_rows_;
    DynamicLstmProblem lstm_;
    bool has_state_[2] = {};
    int state_blob_[2] = {-1, -1};
    bool wanted_[3] = {};
    int64_t rows_ = 0, row_blocks_ = 0, state_floats_ = 0;
    int64_t values_at_ = 0, row_sums_at_ = 0, products_at_ = 0, states_at_ = 0;
};

Work work_of(const IntegerIsa& isa, const Problem& problem) {
    DynamicLstmProblem lstm;
    HEADWAY_CHECK(DynamicLstmProblem::make(problem, lstm));
    const auto rows = static_cast<double>(lstm.steps * lstm.batch * lstm.directions);
    Work work = integer_work(isa, lstm.w_panels(), rows, 0);
    work.flops += integer_work(isa, lstm.r_panels(), rows, 0).flops;
    // The recurrent weights pass by at every step.
    work.bytes =
        static_cast<double>(lstm.directions * (lstm.w_panels().bytes() + lstm.steps * lstm.r_panels().bytes()));
    return work;
}

Kernel::Fields fields_of(const IntegerIsa& isa) {
    Kernel::Fields fields;
    fields.name = "dynamic_lstm.integer." + std::string(isa.name);
    fields.algorithm = "integer";
    fields.help = "DynamicQuantizeLSTM in exact products of 8-bit integers, step by step.";
    fields.ops = {"com.microsoft/DynamicQuantizeLSTM"};
    fields.isa = isa.isa;
    fields.numerics = Numerics::approximates;
    fields.knobs = {&integer_rows_knob};
    fields.supports = [&isa](const Problem& problem, const Target& target, const Choices&) {
        if (Verdict verdict = runs_on(isa, target); !verdict) return verdict;
        DynamicLstmProblem lstm;
        return DynamicLstmProblem::make(problem, lstm);
    };
    fields.work = [&isa](const Problem& problem, const Target&, const Choices&) { return work_of(isa, problem); };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        DynamicLstmProblem lstm;
        HEADWAY_CHECK(DynamicLstmProblem::make(problem, lstm));
        return pack_dynamic_lstm(lstm, constants);
    };
    fields.prepare = [&isa](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<DynamicLstm>(ops_of(isa), problem, choices);
    };
    return fields;
}

const Kernel dynamic_lstm_vnni{fields_of(integer_isas()[0])};
const Kernel dynamic_lstm_avx2{fields_of(integer_isas()[1])};
const Kernel dynamic_lstm_baseline{fields_of(integer_isas()[2])};

}  // namespace
}  // namespace headway
