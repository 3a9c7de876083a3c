// Inner loops of recurrent cells (see recurrent_ops.h). Included once by each of recurrent_ops_<isa>.cpp.
#pragma once

#include "kernels/cpu/pointwise/vector_math.h"
#include "kernels/cpu/recurrent/recurrent_ops.h"

namespace headway::HEADWAY_ISA {
namespace {

constexpr int units = static_cast<int>(recurrent_units);
constexpr int row_step = static_cast<int>(recurrent_sums);

struct Full {
    using Element = float;
    HEADWAY_INLINE vf read(const float* p) { return load(p); }
};
struct Half {
    using Element = uint16_t;
    HEADWAY_INLINE vf read(const uint16_t* p) { return load_bf16(p); }
};

// Two multiply-add units of latency 4 want this many independent sums.
constexpr int wanted_sums = 8;

// Vectors of sums that are worked on at a time: a divisor of `total` that leaves registers for weights and inputs.
template <int total, int rows>
constexpr int strip_vectors() {
    constexpr int most = rows == 1 ? wanted_sums : vector_registers / (rows + 1);
    for (int vectors = total; vectors > 1; --vectors)
        if (vectors <= most && total % vectors == 0) return vectors;
    return 1;
}

// Few rows do little with a row of weights and wait for the next ones, which come from the second-level cache or
// beyond: they are asked for this many bytes ahead (1 to 4 KiB measured alike).
constexpr int64_t fetch_ahead = 4096;
constexpr int most_rows_that_wait = 2;

template <int rows, int vectors, class Element>
HEADWAY_INLINE void fetch_weights(const Element* weights) {
    constexpr int64_t line = 64, bytes = int64_t{vectors} * lanes * static_cast<int64_t>(sizeof(Element));
    if (rows > most_rows_that_wait) return;
#pragma GCC unroll 8
    for (int64_t at = 0; at < bytes; at += line)
        _mm_prefetch(reinterpret_cast<const char*>(weights) + fetch_ahead + at, _MM_HINT_T0);
}

// One input of each row times its weights, onto the sums of one turn.
template <class Weights, int rows, int vectors>
HEADWAY_INLINE void add_input(const typename Weights::Element* weights, const float* in, int64_t in_stride,
                              vf (&sums)[rows][vectors]) {
    fetch_weights<rows, vectors>(weights);
    vf w[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) w[v] = Weights::read(weights + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
        const vf x = broadcast(in[r * in_stride]);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sums[r][v] = fma(x, w[v], sums[r][v]);
    }
}

// `vectors` vectors of the sums of `rows` rows, kept in registers while the inputs stream by. Where they are too few to
// hide the latency, successive inputs go to several sets of them by turns.
template <class Weights, int slots, int rows, int vectors>
HEADWAY_INLINE void accumulate_strip(const typename Weights::Element* weights, const float* in, int64_t in_stride,
                                     int64_t n, float* acc) {
    constexpr int turns = (wanted_sums + rows * vectors - 1) / (rows * vectors);
    vf sums[turns][rows][vectors];
#pragma GCC unroll 8
    for (int t = 0; t < turns; ++t)
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) sums[t][r][v] = t == 0 ? load(acc + r * row_step + v * lanes) : zero();
    int64_t i = 0;
    for (; i + turns <= n; i += turns)
#pragma GCC unroll 8
        for (int t = 0; t < turns; ++t)
            add_input<Weights, rows, vectors>(weights + (i + t) * slots * units, in + i + t, in_stride, sums[t]);
    for (; i < n; ++i) add_input<Weights, rows, vectors>(weights + i * slots * units, in + i, in_stride, sums[0]);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            vf sum = sums[0][r][v];
#pragma GCC unroll 8
            for (int t = 1; t < turns; ++t) sum = sum + sums[t][r][v];
            store(acc + r * row_step + v * lanes, sum);
        }
}

template <class Weights, int slots, int rows>
void accumulate_rows(const typename Weights::Element* weights, const float* in, int64_t in_stride, int64_t n,
                     float* acc) {
    constexpr int total = slots * units / lanes;
    constexpr int strip = strip_vectors<total, rows>();
    for (int v = 0; v < total; v += strip)
        accumulate_strip<Weights, slots, rows, strip>(weights + v * lanes, in, in_stride, n, acc + v * lanes);
}

template <class Weights, int slots>
void accumulate(const std::byte* weights, const float* in, int64_t in_stride, int64_t n, int rows, float* acc) {
    static_assert(recurrent_rows == 6);
    const auto* w = reinterpret_cast<const typename Weights::Element*>(weights);
    switch (rows) {
        case 1:
            return accumulate_rows<Weights, slots, 1>(w, in, in_stride, n, acc);
        case 2:
            return accumulate_rows<Weights, slots, 2>(w, in, in_stride, n, acc);
        case 3:
            return accumulate_rows<Weights, slots, 3>(w, in, in_stride, n, acc);
        case 4:
            return accumulate_rows<Weights, slots, 4>(w, in, in_stride, n, acc);
        case 5:
            return accumulate_rows<Weights, slots, 5>(w, in, in_stride, n, acc);
        default:
            return accumulate_rows<Weights, slots, 6>(w, in, in_stride, n, acc);
    }
}

template <class Poly>
void lstm(const float* sums, const float* c_before, float* c, float* h) {
    for (int u = 0; u < units; u += lanes) {
        const vf input = sigmoid<Poly>(load(sums + u));
        const vf output = sigmoid<Poly>(load(sums + units + u));
        const vf forget = sigmoid<Poly>(load(sums + 2 * units + u));
        const vf candidate = tanh<Poly>(load(sums + 3 * units + u));
        const vf state = fma(forget, load(c_before + u), input * candidate);
        store(c + u, state);
        store(h + u, output * tanh<Poly>(state));
    }
}

// (1 - update) * candidate + update * before.
HEADWAY_INLINE vf blend(vf update, vf candidate, vf before) {
    return fma(update, before, (broadcast(1.0F) - update) * candidate);
}

template <class Poly>
void gru_linear(const float* sums, const float* h_before, float* h) {
    for (int u = 0; u < units; u += lanes) {
        const vf update = sigmoid<Poly>(load(sums + units + u));
        const vf reset = sigmoid<Poly>(load(sums + 2 * units + u));
        const vf candidate = tanh<Poly>(fma(reset, load(sums + 3 * units + u), load(sums + u)));
        store(h + u, blend(update, candidate, load(h_before + u)));
    }
}

template <class Poly>
void gru_gates(const float* sums, const float* h_before, float* update, float* reset) {
    for (int u = 0; u < units; u += lanes) {
        store(update + u, sigmoid<Poly>(load(sums + units + u)));
        store(reset + u, sigmoid<Poly>(load(sums + 2 * units + u)) * load(h_before + u));
    }
}

template <class Poly>
void gru(const float* sums, const float* update, const float* h_before, float* h) {
    for (int u = 0; u < units; u += lanes)
        store(h + u, blend(load(update + u), tanh<Poly>(load(sums + u)), load(h_before + u)));
}

template <class Poly>
void rnn(const float* sums, float* h) {
    for (int u = 0; u < units; u += lanes) store(h + u, tanh<Poly>(load(sums + u)));
}

template <class Poly>
constexpr RecurrentCells cells() {
    return {lstm<Poly>, gru_linear<Poly>, gru_gates<Poly>, gru<Poly>, rnn<Poly>};
}

}  // namespace

const RecurrentOps& recurrent_ops() {
    static constexpr RecurrentOps ops{
        {{accumulate<Full, 1>, accumulate<Full, 2>, accumulate<Full, 3>, accumulate<Full, 4>},
         {accumulate<Half, 1>, accumulate<Half, 2>, accumulate<Half, 3>, accumulate<Half, 4>}},
        {cells<Poly6>(), cells<Poly4>()}};
    return ops;
}

}  // namespace headway::HEADWAY_ISA
