#include "kernels/cpu/recurrent/input_products.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "kernels/cpu/recurrent/recurrent_weights.h"

namespace headway {
namespace {

const Knob<int64_t> chunk_rows{{
    .name = "recurrent.chunk_rows",
    .help = "Rows (steps times batch) of a recurrent cell's input that are multiplied by its weights before the steps "
            "are walked: many read the weights less often, few keep the sums and the recurrent weights in cache.",
    .family = "kernel",
    .values = {128, 16, 32, 64, 256, 512},
    .scope = Scope::site,
    .witness = "gru",
    .witness_route = "recurrent.algorithm=sequence",
}};

int64_t most_steps(const RecurrentProblem& problem, const Choices& choices) {
    const int64_t wanted = std::max<int64_t>(1, choices.get(chunk_rows) / std::max<int64_t>(1, problem.batch));
    return problem.steps == 0 ? 0 : ceil_div(problem.steps, ceil_div(problem.steps, wanted));
}

WeightFormat panel_format(RecurrentWeights format) {
    return format == RecurrentWeights::bf16 ? WeightFormat::bf16 : WeightFormat::f32;
}

int64_t matrix_bytes(const Panels& panels, WeightFormat format) {
    return panels.size() * (format == WeightFormat::bf16 ? 2 : 4);
}

}  // namespace

InputProducts::InputProducts(const RecurrentProblem& problem, RecurrentWeights format, const GemmMicro& micro,
                             const Target& target, const Choices& choices)
    : problem_(problem),
      format_(panel_format(format)),
      micro_(micro),
      panels_(micro, problem.inputs, problem.columns()),
      most_steps_(most_steps(problem, choices)),
      blocking_(
          choose_blocking(most_steps_ * problem.batch, problem.columns(), problem.inputs, micro, target, choices)),
      column_blocks_(column_blocks(panels_, blocking_.columns)) {
    for (int64_t first = 0; first < problem.steps; first += most_steps_)
        chunks_.push_back({first, std::min(most_steps_, problem.steps - first)});
}

int64_t InputProducts::sums_bytes() const {
    const int64_t factors[] = {problem_.directions, most_steps_, problem_.batch, problem_.columns(), sizeof(float)};
    return checked_product(factors, "the sums of a recurrent cell");
}

int64_t InputProducts::scratch_bytes() const { return blocking_.rows * static_cast<int64_t>(sizeof(float*)); }

int64_t InputProducts::tiles(const Chunk& chunk) const {
    return problem_.directions * static_cast<int64_t>(column_blocks_.size()) *
           ceil_div(chunk.count * problem_.batch, blocking_.rows);
}

// The directions walk in opposite orders: the same steps of theirs lie at opposite ends of time.
int64_t InputProducts::first_time(const Chunk& chunk, int64_t direction) const {
    return problem_.backwards(direction) ? problem_.steps - chunk.first - chunk.count : chunk.first;
}

// Tiles in the order (direction, columns, rows), so that each thread finds the direction that it walks in its cache.
void InputProducts::run(const float* x, const std::byte* weights, const float* init, const Chunk& chunk, int64_t tile,
                        std::byte* scratch, float* sums) const {
    const int64_t all_rows = chunk.count * problem_.batch, row_blocks = ceil_div(all_rows, blocking_.rows);
    const int64_t column_count = static_cast<int64_t>(column_blocks_.size());
    const int64_t direction = tile / row_blocks / column_count;
    const ColumnBlock& columns = column_blocks_[static_cast<size_t>(tile / row_blocks % column_count)];
    const int64_t row = tile % row_blocks * blocking_.rows, rows = std::min(blocking_.rows, all_rows - row);
    const float* from = x + (first_time(chunk, direction) * problem_.batch + row) * problem_.inputs;
    const auto** pointers = reinterpret_cast<const float**>(scratch);
    for (int64_t r = 0; r < rows; ++r) pointers[r] = from + r * problem_.inputs;
    const PackedMatrix matrix{&micro_, &panels_, format_, weights + direction * matrix_bytes(panels_, format_),
                              init + direction * problem_.columns()};
    multiply_block(matrix, {pointers, rows, 1, problem_.inputs}, rows, columns.panel_begin, columns.panel_end,
                   blocking_.walk, sums + direction * direction_floats() + row * problem_.columns(),
                   problem_.columns());
}

const float* InputProducts::of(const float* sums, const Chunk& chunk, int64_t direction, int64_t step, int64_t row,
                               int64_t block) const {
    const int64_t done = step - chunk.first;
    const int64_t time = problem_.backwards(direction) ? chunk.count - 1 - done : done;
    return sums + direction * direction_floats() + (time * problem_.batch + row) * problem_.columns() +
           block * problem_.form().gates * recurrent_units;
}

Tensor InputProducts::pack(const RecurrentProblem& problem, RecurrentWeights format, const GemmMicro& micro,
                           const Tensor& w) {
    const Panels panels(micro, problem.inputs, problem.columns());
    Tensor packed = packed_storage(panels, problem.directions, panel_format(format));
    std::vector<int64_t> offsets(static_cast<size_t>(problem.inputs));
    std::iota(offsets.begin(), offsets.end(), 0);
    for (int64_t direction = 0; direction < problem.directions; ++direction)
        pack_into(packed, panels, direction, input_weights(problem, w, direction).data(), offsets, problem.inputs, 1);
    return packed;
}

std::vector<const KnobBase*> InputProducts::knobs() {
    std::vector<const KnobBase*> knobs = blocking_knobs();
    knobs.push_back(&chunk_rows);
    return knobs;
}

int64_t InputProducts::rows(const RecurrentProblem& problem, const Choices& choices) {
    return most_steps(problem, choices) * problem.batch;
}

}  // namespace headway
