#include "kernels/cpu/gemm/panels.h"

#include <algorithm>

#include "base/checked.h"
#include "tensor/element_type.h"

namespace headway {

const Knob<std::string_view> weight_format_knob{{
    .name = "format.weights",
    .help =
        "How packed weights of convolutions and matrix products are stored; bf16 halves their bytes, sums stay f32.",
    .family = "format",
    .values = {"fp32", "bf16"},
    .numerics = Numerics::reduced,
    .scope = Scope::site,
    .witness = "conv_1x1",
    .witness_route = "conv.algorithm=gemm",
}};

WeightFormat weight_format(const Choices& choices) {
    return choices.get(weight_format_knob) == "bf16" ? WeightFormat::bf16 : WeightFormat::f32;
}

WeightFormat weight_format(const GemmMicro& micro, const Choices& choices) {
    return micro.computes_in_bf16() ? WeightFormat::bf16_pairs : weight_format(choices);
}

namespace {

// Panel widths in vectors that cover `vectors`: pairs, and a triple at the end when the count is odd, since a single
// vector has too few independent sums to hide the latency of a multiply-add.
std::vector<int> tall_widths(int64_t vectors) {
    std::vector<int> widths;
    for (; vectors >= 4 || vectors == 2; vectors -= 2) widths.push_back(2);
    if (vectors > 0) widths.push_back(static_cast<int>(vectors));
    return widths;
}

std::vector<int> few_row_widths(int64_t vectors) {
    std::vector<int> widths;
    for (; vectors > 0; vectors -= widths.back())
        widths.push_back(static_cast<int>(std::min<int64_t>(vectors, GemmMicro::max_vectors)));
    return widths;
}

void store_as(float value, float& dst) { dst = value; }
void store_as(float value, uint16_t& dst) { dst = float_to_bf16(value); }

}  // namespace

Panels::Panels(const GemmMicro& micro, int64_t k, int64_t n, Shape shape)
    : pairs_(micro.computes_in_bf16()), k_(pairs_ ? ceil_div(k, 2) : k), n_(n), lanes_(micro.lanes) {
    const int64_t vectors = ceil_div(n, lanes_);
    int64_t column = 0;
    constexpr int64_t alignment = 32;  // elements: panels begin on a cache line in either format
    for (int width : shape == Shape::tall ? tall_widths(vectors) : few_row_widths(vectors)) {
        const int64_t columns = std::min<int64_t>(n - column, int64_t{width} * lanes_);
        const int last = static_cast<int>(columns - int64_t{width - 1} * lanes_);
        list_.push_back({column, columns, width, last, size_});
        column += columns;
        size_ = round_up(size_ + k_ * width * lanes_, alignment);
    }
    padded_n_ = vectors * lanes_;
}

int64_t Panels::init_offset(size_t panel) const { return list_[panel].column; }

template <class Element>
void Panels::pack_as(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
                     Element* dst) const {
    HEADWAY_CHECK(static_cast<int64_t>(k_offsets.size()) == k_);
    for (const Panel& panel : list_) {
        Element* out = dst + panel.b_offset;
        const int64_t width = int64_t{panel.vectors} * lanes_;
        for (int64_t k = 0; k < k_; ++k, out += width) {
            const float* in = source + k_offsets[static_cast<size_t>(k)] + panel.column * n_step;
            for (int64_t n = 0; n < width; ++n) store_as(n < panel.columns ? in[n * n_step] * scale : 0.0F, out[n]);
        }
    }
}

void Panels::pack(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
                  float* dst) const {
    pack_as(source, k_offsets, n_step, scale, dst);
}

void Panels::pack(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
                  uint16_t* dst) const {
    pack_as(source, k_offsets, n_step, scale, dst);
}

void Panels::pack_pairs(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
                        uint16_t* dst) const {
    const int64_t rows = static_cast<int64_t>(k_offsets.size());
    HEADWAY_CHECK(pairs_ && ceil_div(rows, 2) == k_);
    for (const Panel& panel : list_) {
        const int64_t width = int64_t{panel.vectors} * lanes_;
        uint16_t* out = dst + 2 * panel.b_offset;
        std::fill_n(out, 2 * k_ * width, uint16_t{0});
        for (int64_t k = 0; k < rows; ++k) {
            const float* in = source + k_offsets[static_cast<size_t>(k)] + panel.column * n_step;
            uint16_t* row = out + k / 2 * 2 * width + k % 2;
            for (int64_t n = 0; n < panel.columns; ++n) row[2 * n] = float_to_bf16(in[n * n_step] * scale);
        }
    }
}

void Panels::pack_panel(size_t index, const float* source, int64_t k_step, int64_t n_step, float scale,
                        float* dst) const {
    const Panel& panel = list_[index];
    const int64_t width = int64_t{panel.vectors} * lanes_;
    float* out = dst + panel.b_offset;
    for (int64_t k = 0; k < k_; ++k, out += width) {
        const float* in = source + k * k_step + panel.column * n_step;
        for (int64_t n = 0; n < panel.columns; ++n) out[n] = in[n * n_step] * scale;
        std::fill(out + panel.columns, out + width, 0.0F);
    }
}

void Panels::pack_init(const float* bias, float scale, float* dst) const {
    for (int64_t n = 0; n < init_size(); ++n) dst[n] = bias != nullptr && n < n_ ? bias[n] * scale : 0.0F;
}

Tensor packed_storage(const Panels& panels, int64_t count, WeightFormat format) {
    const int64_t elements = checked_mul(panels.pairs() ? 2 : 1, panels.size(), "packed weights");
    return Tensor(format == WeightFormat::f32 ? ElementType::f32 : ElementType::bf16,
                  Shape{checked_mul(count, elements, "packed weights")});
}

void pack_into(Tensor& storage, const Panels& panels, int64_t index, const float* source,
               std::span<const int64_t> k_offsets, int64_t n_step, float scale) {
    std::byte* base = storage.mutable_bytes().data();
    const int64_t at = index * panels.size();
    if (panels.pairs())
        panels.pack_pairs(source, k_offsets, n_step, scale, reinterpret_cast<uint16_t*>(base) + 2 * at);
    else if (storage.type() == ElementType::bf16)
        panels.pack(source, k_offsets, n_step, scale, reinterpret_cast<uint16_t*>(base) + at);
    else
        panels.pack(source, k_offsets, n_step, scale, reinterpret_cast<float*>(base) + at);
}

}  // namespace headway
