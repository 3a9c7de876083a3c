#include "kernels/cpu/recurrent/recurrence.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace headway {
namespace {

// Arrays of the workspace: h of the step before and of this one by turns, then what the cell keeps besides.
enum StateArray : int64_t { hidden_even, hidden_odd, cell_values, update_values = cell_values, reset_values };

}  // namespace

Recurrence::Recurrence(const Problem& problem, const RecurrentBlocks& blocks, const RecurrentOps& ops,
                       const Options& options)
    : blocks_(blocks), ops_(ops), cells_(ops.cells[static_cast<int>(options.exp)]), options_(options) {
    HEADWAY_CHECK(RecurrentProblem::make(problem, problem_));
    int packed = options.packed_states;
    for (size_t i : {RecurrentProblem::initial_h, RecurrentProblem::initial_c}) {
        if (!has_input(problem, i)) continue;
        states_[i - RecurrentProblem::initial_h] =
            problem.constant[i] ? State{.packed = packed++} : State{.src = static_cast<int>(i)};
    }
    for (size_t i = 0; i < problem.dst.size() && i < 3; ++i) wanted_[i] = problem.dst[i].type != ElementType::undefined;
}

int64_t Recurrence::state_bytes() const {
    const int64_t factors[] = {problem_.form().state_arrays, problem_.directions, problem_.batch,
                               problem_.padded_hidden(), sizeof(float)};
    return checked_product(factors, "the states of a recurrent cell");
}

int64_t Recurrence::groups() const { return ceil_div(problem_.batch, options_.most_rows); }

Recurrence::Rows Recurrence::group(int64_t index) const {
    const int64_t count = groups(), first = index * problem_.batch / count;
    return {first, static_cast<int>((index + 1) * problem_.batch / count - first)};
}

float* Recurrence::state(const Args& args, int64_t array, int64_t direction) const {
    return reinterpret_cast<float*>(args.workspace) + array * state_floats() +
           direction * problem_.batch * problem_.padded_hidden();
}

// Before the first step: what the caller gave, or nothing for zeros.
Recurrence::Values Recurrence::before(const Args& args, int64_t step, int64_t array, size_t initial,
                                      int64_t direction) const {
    if (step > 0) return {state(args, array, direction), problem_.padded_hidden()};
    const float* given = states_[initial].of(args);
    return {given == nullptr ? nullptr : given + direction * problem_.batch * problem_.hidden, problem_.hidden};
}

void Recurrence::advance(const Args& args, const Place& place, const Rows& rows, float* sums) const {
    const RecurrentPart& part = problem_.form().part[place.part];
    Values in = before(args, place.step, place.step % 2, 0, place.direction);
    if (place.part > 0 && in.first != nullptr)
        in = {state(args, reset_values, place.direction), problem_.padded_hidden()};
    if (in.first != nullptr)
        ops_.accumulate[static_cast<int>(options_.format)][part.slots - 1](
            args.packed[options_.packed_blocks] + blocks_.hidden_at(place.direction, place.block, place.part),
            in.first + rows.first * in.stride, in.stride, problem_.hidden, rows.count,
            sums + part.r_slot * recurrent_units);
    for (int r = 0; r < rows.count; ++r) advance_row(args, place, rows.first + r, sums + r * recurrent_sums);
}

void Recurrence::advance_row(const Args& args, const Place& place, int64_t row, const float* sums) const {
    const int64_t unit = place.block * recurrent_units;
    const size_t bytes = static_cast<size_t>(std::min(recurrent_units, problem_.hidden - unit)) * sizeof(float);
    const auto here = [&](int64_t array) {
        return state(args, array, place.direction) + row * problem_.padded_hidden() + unit;
    };
    alignas(64) float values_before[recurrent_units] = {};
    const bool is_lstm = problem_.cell == RecurrentCell::lstm;
    const Values values = is_lstm ? before(args, place.step, cell_values, 1, place.direction)
                                  : before(args, place.step, place.step % 2, 0, place.direction);
    if (values.first != nullptr) std::memcpy(values_before, values.first + row * values.stride + unit, bytes);
    float* h = here((place.step + 1) % 2);
    switch (problem_.cell) {
        case RecurrentCell::lstm:
            cells_.lstm(sums, values_before, here(cell_values), h);
            break;
        case RecurrentCell::gru:
            if (place.part == 0) return cells_.gru_gates(sums, values_before, here(update_values), here(reset_values));
            cells_.gru(sums, here(update_values), values_before, h);
            break;
        case RecurrentCell::gru_linear:
            cells_.gru_linear(sums, values_before, h);
            break;
        case RecurrentCell::rnn:
            cells_.rnn(sums, h);
            break;
    }
    const int64_t time = problem_.backwards(place.direction) ? problem_.steps - 1 - place.step : place.step;
    const int64_t at = (place.direction * problem_.batch + row) * problem_.hidden + unit;
    const auto write = [&](size_t output, int64_t offset, const float* from) {
        if (wanted_[output]) std::memcpy(reinterpret_cast<float*>(args.dst[output]) + offset, from, bytes);
    };
    write(0, time * problem_.directions * problem_.batch * problem_.hidden + at, h);
    if (place.step + 1 < problem_.steps) return;
    write(1, at, h);
    if (is_lstm) write(2, at, here(cell_values));
}

void Recurrence::keep_initial(const Args& args) const {
    const auto bytes = static_cast<size_t>(problem_.directions * problem_.batch * problem_.hidden) * sizeof(float);
    for (size_t i = 0; i < 2; ++i) {
        if (!wanted_[i + 1]) continue;
        if (const float* given = states_[i].of(args); given != nullptr)
            std::memcpy(args.dst[i + 1], given, bytes);
        else
            std::memset(args.dst[i + 1], 0, bytes);
    }
}

}  // namespace headway
