#include "kernels/cpu/recurrent/recurrent_weights.h"

#include <algorithm>
#include <cstring>

namespace headway {
namespace {

// Row of a gate's hidden unit in W, R and half of B.
int64_t weight_row(const RecurrentProblem& problem, int64_t direction, int slot, int64_t unit) {
    const RecurrentForm& form = problem.form();
    return (direction * form.gates + form.gate_of[slot]) * problem.hidden + unit;
}

void store_as(RecurrentWeights format, std::byte* row, int64_t column, float value) {
    if (format == RecurrentWeights::bf16)
        reinterpret_cast<uint16_t*>(row)[column] = float_to_bf16(value);
    else
        reinterpret_cast<float*>(row)[column] = value;
}

}  // namespace

RecurrentBlocks::RecurrentBlocks(const RecurrentProblem& problem, RecurrentWeights format, int64_t input_rows)
    : problem_(problem), format_(format), input_rows_(input_rows), part_rows_(input_rows + problem.hidden) {}

int64_t RecurrentBlocks::row_bytes(int part) const {
    return problem_.form().part[part].slots * recurrent_units * (format_ == RecurrentWeights::bf16 ? 2 : 4);
}

int64_t RecurrentBlocks::inputs_at(int64_t direction, int64_t block, int part) const {
    int64_t block_row = 0;
    for (int p = 0; p < problem_.form().parts; ++p) block_row += row_bytes(p);
    const int64_t before = part == 0 ? 0 : row_bytes(0);
    return ((direction * problem_.blocks() + block) * block_row + before) * part_rows_;
}

int64_t RecurrentBlocks::hidden_at(int64_t direction, int64_t block, int part) const {
    return inputs_at(direction, block, part) + input_rows_ * row_bytes(part);
}

Tensor RecurrentBlocks::pack(const Tensor& w, const Tensor& r) const {
    Tensor packed(format_ == RecurrentWeights::bf16 ? ElementType::bf16 : ElementType::f32,
                  Shape{inputs_at(problem_.directions, 0, 0) / (format_ == RecurrentWeights::bf16 ? 2 : 4)});
    const RecurrentForm& form = problem_.form();
    const auto fill = [&](const Tensor& weights, int64_t rows, int64_t at, int64_t direction, int part, int slot,
                          int first_slot, int64_t unit) {
        const int64_t row = weight_row(problem_, direction, slot, unit);
        const float* from = weights.data<float>().data() + row * rows;
        const int64_t column = (slot - first_slot) * recurrent_units + unit % recurrent_units;
        std::byte* to = packed.mutable_bytes().data() + at;
        for (int64_t i = 0; i < rows; ++i) store_as(format_, to + i * row_bytes(part), column, from[i]);
    };
    for (int64_t direction = 0; direction < problem_.directions; ++direction)
        for (int64_t unit = 0; unit < problem_.hidden; ++unit)
            for (int p = 0; p < form.parts; ++p) {
                const RecurrentPart& part = form.part[p];
                const int64_t block = unit / recurrent_units;
                for (int s = 0; s < part.slots; ++s) {
                    if (input_rows_ > 0)
                        fill(w, input_rows_, inputs_at(direction, block, p), direction, p, part.w_slot + s, part.w_slot,
                             unit);
                    fill(r, problem_.hidden, hidden_at(direction, block, p), direction, p, part.r_slot + s, part.r_slot,
                         unit);
                }
            }
    return packed;
}

Tensor pack_recurrent_biases(const RecurrentProblem& problem, const Tensor* biases) {
    const RecurrentForm& form = problem.form();
    const int64_t blocks = problem.directions * problem.blocks();
    Tensor packed(ElementType::f32, Shape{blocks * form.slots * recurrent_units});
    if (biases == nullptr) return packed;
    const float* from = biases->data<float>().data();
    float* to = packed.mutable_data<float>().data();
    const int64_t half = form.gates * problem.hidden;
    for (int64_t direction = 0; direction < problem.directions; ++direction)
        for (int64_t unit = 0; unit < problem.hidden; ++unit) {
            const int64_t block = direction * problem.blocks() + unit / recurrent_units;
            const int64_t lane = unit % recurrent_units;
            const auto of_w = [&](int slot) {
                return from + weight_row(problem, direction, slot, unit) + direction * half;
            };
            for (int slot = 0; slot < form.gates; ++slot) {
                const bool own_slot = form.slots > form.gates && slot == 0;
                to[(block * form.gates + slot) * recurrent_units + lane] =
                    of_w(slot)[0] + (own_slot ? 0.0F : of_w(slot)[half]);
            }
            if (form.slots > form.gates)
                to[(blocks * form.gates + block) * recurrent_units + lane] = of_w(form.gates)[half];
        }
    return packed;
}

std::vector<float> input_weights(const RecurrentProblem& problem, const Tensor& w, int64_t direction) {
    std::vector<float> matrix(static_cast<size_t>(problem.columns() * problem.inputs), 0.0F);
    const int gates = problem.form().gates;
    const float* from = w.data<float>().data();
    for (int64_t unit = 0; unit < problem.hidden; ++unit)
        for (int slot = 0; slot < gates; ++slot) {
            const int64_t column = (unit / recurrent_units * gates + slot) * recurrent_units + unit % recurrent_units;
            std::copy_n(from + weight_row(problem, direction, slot, unit) * problem.inputs, problem.inputs,
                        matrix.begin() + column * problem.inputs);
        }
    return matrix;
}

}  // namespace headway
