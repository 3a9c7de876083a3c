// Inner loops of recurrent cells for one instruction set. The sums of 16 hidden units, a block, stand together: a slot
// of 16 for each gate, in an order that the cell states (recurrent_problem.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway {

inline constexpr int64_t recurrent_units = 16;                                // hidden units of a block: a slot of sums
inline constexpr int recurrent_slots = 4;                                     // most slots of a block
inline constexpr int64_t recurrent_sums = recurrent_slots * recurrent_units;  // from one row's sums to the next row's
inline constexpr int recurrent_rows = 6;                                      // most rows of the batch at a time

enum class RecurrentWeights : uint8_t { f32, bf16, count };

// The polynomial of the cells' exponentials.
enum class RecurrentExp : uint8_t { poly6, poly4, count };

// The cells, for one row of a block; each array but the sums is of recurrent_units.
struct RecurrentCells {
    // Slots i, o, f, g: c = sigmoid(f) * c_before + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c).
    void (*lstm)(const float* sums, const float* c_before, float* c, float* h);
    // Slots n, z, r, m: h = (1 - z') * tanh(n + r' * m) + z' * h_before, with z' and r' the sigmoids.
    void (*gru_linear)(const float* sums, const float* h_before, float* h);
    // Slots n, z, r, of which z and r are known: update = sigmoid(z), reset = sigmoid(r) * h_before.
    void (*gru_gates)(const float* sums, const float* h_before, float* update, float* reset);
    // Of the same, n: h = (1 - update) * tanh(n) + update * h_before.
    void (*gru)(const float* sums, const float* update, const float* h_before, float* h);
    void (*rnn)(const float* sums, float* h);  // h = tanh of the only slot
};

struct RecurrentOps {
    // sums[r * recurrent_sums + c] += sum over i < n of in[r * in_stride + i] * weights[i][c], for c < 16 * slots and
    // 1 <= rows <= recurrent_rows. The order of a sum depends on rows and slots alone.
    using Accumulate = void (*)(const std::byte* weights, const float* in, int64_t in_stride, int64_t n, int rows,
                                float* sums);
    Accumulate accumulate[static_cast<int>(RecurrentWeights::count)][recurrent_slots];  // by slots - 1

    RecurrentCells cells[static_cast<int>(RecurrentExp::count)];
};

namespace baseline {
const RecurrentOps& recurrent_ops();
}
namespace avx2 {
const RecurrentOps& recurrent_ops();
}
namespace avx512 {
const RecurrentOps& recurrent_ops();
}
namespace emulated512 {
const RecurrentOps& recurrent_ops();
}  // namespace emulated512

}  // namespace headway
