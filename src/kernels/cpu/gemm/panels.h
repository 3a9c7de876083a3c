// B of a product, cut into column panels as wide as the register tiles and packed so that a tile reads it in order.
// A width that is no multiple of the vector is covered by the narrowest tiles that hold it (24 columns in vectors of 8
// are one panel of 3 vectors), so that little is computed for columns that do not exist.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/gemm/micro.h"
#include "kernels/kernel.h"
#include "tensor/tensor.h"

namespace headway {

// Knob format.weights: how packed weights are stored.
extern const Knob<std::string_view> weight_format_knob;
WeightFormat weight_format(const Choices& choices);
// What the tiles of `micro` read: bf16_pairs when they compute in bf16, else as the knob says.
WeightFormat weight_format(const GemmMicro& micro, const Choices& choices);

struct Panel {
    int64_t column;    // first column
    int64_t columns;   // columns that exist
    int vectors;       // width in vectors
    int last;          // lanes of the last vector that exist
    int64_t b_offset;  // elements from the start of the packed B
};

// For tiles that compute in bf16, k and every offset count pairs of rows from the constructor on; a missing row of the
// last pair is zero.
class Panels {
public:
    // Panels of a k x n matrix. `widest`: wider panels stream better when there are only one or two rows of A.
    enum class Shape { tall, few_rows };
    Panels(const GemmMicro& micro, int64_t k, int64_t n, Shape shape = Shape::tall);

    std::span<const Panel> list() const { return list_; }
    int64_t k() const { return k_; }
    bool pairs() const { return pairs_; }
    int64_t n() const { return n_; }
    int lanes() const { return lanes_; }
    int64_t size() const { return size_; }           // elements of one packed matrix
    int64_t padded_n() const { return padded_n_; }   // columns computed, those that do not exist included
    int64_t init_size() const { return padded_n_; }  // floats of a packed bias
    int64_t init_offset(size_t panel) const;         // where a panel's part of the packed bias begins

    // Whether a dense row-major matrix of these columns is its own packed form: one f32 panel without padding.
    bool is_row_major() const { return !pairs_ && list_.size() == 1 && n_ == int64_t{list_[0].vectors} * lanes_; }

    // b_offset of row k of a panel.
    int64_t row_offset(const Panel& panel, int64_t k) const { return panel.b_offset + k * panel.vectors * lanes_; }

    // Packs element (k, n) = source[k_offsets[k] + n * n_step] * scale into dst (size() elements).
    void pack(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale, float* dst) const;
    void pack(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
              uint16_t* dst) const;
    void pack_pairs(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
                    uint16_t* dst) const;
    // One panel of the f32 form only, for matrices that are packed at run time by several threads.
    void pack_panel(size_t panel, const float* source, int64_t k_step, int64_t n_step, float scale, float* dst) const;
    // n biases (nullptr = zeros) into init_size() floats.
    void pack_init(const float* bias, float scale, float* dst) const;

private:
    template <class Element>
    void pack_as(const float* source, std::span<const int64_t> k_offsets, int64_t n_step, float scale,
                 Element* dst) const;

    std::vector<Panel> list_;
    bool pairs_ = false;
    int64_t k_ = 0, n_ = 0, size_ = 0, padded_n_ = 0;
    int lanes_ = 1;
};

// A tensor for `count` packed matrices of `panels` in a format, which for panels of pairs is bf16_pairs.
Tensor packed_storage(const Panels& panels, int64_t count, WeightFormat format);
// Packs one matrix at position `index` of such a tensor.
void pack_into(Tensor& storage, const Panels& panels, int64_t index, const float* source,
               std::span<const int64_t> k_offsets, int64_t n_step, float scale);

}  // namespace headway
