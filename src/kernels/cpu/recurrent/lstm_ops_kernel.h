// Inner loops of LSTM (see lstm_ops.h). Included once by each of lstm_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/pointwise/vector_math.h"
#include "kernels/cpu/recurrent/lstm_ops.h"

namespace headway::HEADWAY_ISA {
namespace {

constexpr int gates = static_cast<int>(lstm_gates);
constexpr int units = static_cast<int>(lstm_units);

struct Full {
    using Element = float;
    HEADWAY_INLINE vf read(const float* p) { return load(p); }
};
struct Half {
    using Element = uint16_t;
    HEADWAY_INLINE vf read(const uint16_t* p) { return load_bf16(p); }
};

// `vectors` vectors of the 64 sums of `rows` rows, kept in registers while the inputs stream by.
template <class Weights, int rows, int vectors>
HEADWAY_INLINE void accumulate_strip(const typename Weights::Element* weights, const float* in, int64_t in_stride,
                                     int64_t n, float* acc) {
    vf sums[rows][vectors];
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) sums[r][v] = load(acc + r * gates + v * lanes);
    for (int64_t i = 0; i < n; ++i) {
        vf x[rows];
        for (int r = 0; r < rows; ++r) x[r] = broadcast(in[r * in_stride + i]);
        for (int v = 0; v < vectors; ++v) {
            const vf w = Weights::read(weights + i * gates + v * lanes);
            for (int r = 0; r < rows; ++r) sums[r][v] = fma(x[r], w, sums[r][v]);
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) store(acc + r * gates + v * lanes, sums[r][v]);
}

template <class Weights, int rows>
HEADWAY_INLINE void accumulate_rows(const typename Weights::Element* weights, const float* in, int64_t in_stride,
                                    int64_t n, float* acc) {
    constexpr int total = gates / lanes;
    // One row: enough sums to hide the latency of the multiply-adds. More rows: as many as leave registers for inputs.
    constexpr int wanted = rows == 1 ? 8 : vector_registers / (rows + 1);
    constexpr int strip = wanted >= total ? total : wanted >= 8 ? 8 : 4;
    for (int v = 0; v < total; v += strip)
        accumulate_strip<Weights, rows, strip>(weights + v * lanes, in, in_stride, n, acc + v * lanes);
}

template <class Weights>
void accumulate(const std::byte* weights, const float* in, int64_t in_stride, int64_t n, int rows, float* acc) {
    const auto* w = reinterpret_cast<const typename Weights::Element*>(weights);
    if (rows == 1)
        accumulate_rows<Weights, 1>(w, in, in_stride, n, acc);
    else if (rows == 2)
        accumulate_rows<Weights, 2>(w, in, in_stride, n, acc);
    else
        accumulate_rows<Weights, 3>(w, in, in_stride, n, acc);
}

template <class Poly>
void cell(const float* acc, const float* c_before, float* c, float* h) {
    for (int u = 0; u < units; u += lanes) {
        const vf input = sigmoid<Poly>(load(acc + u));
        const vf output = sigmoid<Poly>(load(acc + units + u));
        const vf forget = sigmoid<Poly>(load(acc + 2 * units + u));
        const vf candidate = tanh<Poly>(load(acc + 3 * units + u));
        const vf state = fma(forget, load(c_before + u), input * candidate);
        store(c + u, state);
        store(h + u, output * tanh<Poly>(state));
    }
}

}  // namespace

const LstmOps& lstm_ops() {
    static constexpr LstmOps ops{{accumulate<Full>, accumulate<Half>}, {cell<Poly6>, cell<Poly4>}};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
