// Inner loops of LSTM for one instruction set. Gates of 16 hidden units stand together: 64 sums i, o, f, c.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway {

inline constexpr int64_t lstm_units = 16;              // hidden units of a block
inline constexpr int64_t lstm_gates = 4 * lstm_units;  // sums of a block
inline constexpr int lstm_rows = 3;                    // batch rows at a time

enum class LstmWeights : uint8_t { f32, bf16, count };
// The polynomial of the cells' exponentials.
enum class LstmExp : uint8_t { poly6, poly4, count };

struct LstmOps {
    // acc[r][0..64) += sum over i < n of in[r * in_stride + i] * weights[i][0..64), for 1 <= rows <= lstm_rows.
    void (*accumulate[static_cast<int>(LstmWeights::count)])(const std::byte* weights, const float* in,
                                                             int64_t in_stride, int64_t n, int rows, float* acc);
    // One row of a block: c = sigmoid(f) * c_before + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c). All of
    // lstm_units.
    using Cell = void (*)(const float* acc, const float* c_before, float* c, float* h);
    Cell cell[static_cast<int>(LstmExp::count)];
};

namespace baseline {
const LstmOps& lstm_ops();
}
namespace avx2 {
const LstmOps& lstm_ops();
}
namespace avx512 {
const LstmOps& lstm_ops();
}
namespace emulated512 {
const LstmOps& lstm_ops();
}  // namespace emulated512

}  // namespace headway
