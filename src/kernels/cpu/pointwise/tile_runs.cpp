#include "kernels/cpu/pointwise/tile_runs.h"

#include <algorithm>
#include <cstring>

namespace headway {
namespace {

// Floats of buffers on the stack: slots and gathered inputs.
constexpr int64_t arena_floats = 16384;
constexpr int max_places = 1024;

// The pointer of each place of a code, with the buffers behind the slots.
class Places {
public:
    Places(const TileCode& code, int64_t tile) : code_(code), tile_(tile) {
        for (size_t k = 0; k < code.constants.size(); ++k)
            places_[code.constant_place(static_cast<int>(k))] = &code.constants[k];
        for (int k = 0; k < code.slots; ++k) places_[code.slot_place(k)] = take_buffer();
    }
    float* take_buffer() { return arena_ + tile_ * used_++; }
    void set(int place, const float* pointer) { places_[place] = pointer; }
    const float* get(int place) const { return places_[place]; }

    void run(int64_t count) const {
        for (const TileCode::Step& step : code_.steps)
            step.function(const_cast<float*>(places_[step.dst]), places_[step.a], places_[step.b], places_[step.c],
                          step.x, step.y, count);
    }

private:
    const TileCode& code_;
    const int64_t tile_;
    int used_ = 0;
    const float* places_[max_places];
    alignas(64) float arena_[arena_floats];
};

int operand_count(const TileCode& code) { return static_cast<int>(code.operand_used.size()); }

// rows x cols floats, made dense.
void gather(float* to, const float* from, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
    for (int64_t r = 0; r < rows; ++r, to += cols, from += row_stride) {
        if (col_stride == 1)
            std::memcpy(to, from, static_cast<size_t>(cols) * sizeof(float));
        else
            std::fill(to, to + cols, *from);
    }
}

// One input of a run over short rows: read in place, gathered for each block, or repeated once for all blocks.
struct ShortInput {
    int place = 0;
    const float* first = nullptr;
    int64_t row_stride = 0, col_stride = 0;
    float* buffer = nullptr;
};

class ShortRun {
public:
    ShortRun(const TileCode& code, int64_t tile, const TileRectangle& area)
        : code_(code),
          area_(area),
          places_(code, tile),
          block_rows_(std::min(area.rows, std::max<int64_t>(1, tile / area.cols))) {
        if (code.anchor_used) add(TileCode::anchor_place, area.anchor, area.anchor_stride, 1);
        for (int k = 0; k < operand_count(code); ++k)
            if (code.operand_used[static_cast<size_t>(k)])
                add(code.operand_place(k), area.operands[k], area.row_strides[k], area.col_strides[k]);
    }

    void run() {
        for (int64_t r = 0; r < area_.rows; r += block_rows_) {
            const int64_t rows = std::min(block_rows_, area_.rows - r);
            for (int i = 0; i < inputs_used_; ++i) read(inputs_[i], r, rows);
            for (size_t i = 0; i < code_.results.size(); ++i)
                if (in_place(i)) places_.set(code_.results[i].place, area_.dst[i] + r * area_.cols);
            places_.run(rows * area_.cols);
            for (size_t i = 0; i < code_.results.size(); ++i)
                if (!in_place(i)) write(i, r, rows);
        }
    }

private:
    bool in_place(size_t result) const { return code_.results[result].direct && area_.dst_stride == area_.cols; }

    void add(int place, const float* first, int64_t row_stride, int64_t col_stride) {
        const bool constant = row_stride == 0 && col_stride == 0;
        const bool dense = col_stride == 1 && row_stride == area_.cols;
        if (constant) return places_.set(place, first);
        ShortInput input{place, first, row_stride, col_stride, dense ? nullptr : places_.take_buffer()};
        if (row_stride != 0) {
            inputs_[inputs_used_++] = input;
            return;
        }
        gather(input.buffer, first, block_rows_, area_.cols, 0, col_stride);
        places_.set(place, input.buffer);
    }

    void read(const ShortInput& input, int64_t r, int64_t rows) {
        const float* from = input.first + r * input.row_stride;
        if (input.buffer != nullptr) gather(input.buffer, from, rows, area_.cols, input.row_stride, input.col_stride);
        places_.set(input.place, input.buffer != nullptr ? input.buffer : from);
    }

    void write(size_t result, int64_t r, int64_t rows) {
        const float* from = places_.get(code_.results[result].place);
        float* to = area_.dst[result] + r * area_.dst_stride;
        for (int64_t i = 0; i < rows; ++i, from += area_.cols, to += area_.dst_stride)
            std::memcpy(to, from, static_cast<size_t>(area_.cols) * sizeof(float));
    }

    const TileCode& code_;
    const TileRectangle& area_;
    Places places_;
    const int64_t block_rows_;
    ShortInput inputs_[1 + max_tile_operands];
    int inputs_used_ = 0;
};

}  // namespace

int64_t tile_elements(int64_t wanted, const TileCode& code) {
    const int64_t buffers = code.slots + operand_count(code) + 1;
    return std::clamp<int64_t>(arena_floats / buffers / 16 * 16, 16, wanted);
}

void run_long_rows(const TileCode& code, int64_t tile, const TileRectangle& area) {
    Places places(code, tile);
    for (int64_t r = 0; r < area.rows; ++r) {
        for (int64_t c = 0; c < area.cols; c += tile) {
            const int64_t count = std::min(tile, area.cols - c);
            if (code.anchor_used) places.set(TileCode::anchor_place, area.anchor + r * area.anchor_stride + c);
            for (int k = 0; k < operand_count(code); ++k)
                places.set(code.operand_place(k), area.operands[k] + r * area.row_strides[k] + c * area.col_strides[k]);
            for (size_t i = 0; i < code.results.size(); ++i)
                if (code.results[i].direct) places.set(code.results[i].place, area.dst[i] + r * area.dst_stride + c);
            places.run(count);
            for (size_t i = 0; i < code.results.size(); ++i)
                if (!code.results[i].direct)
                    std::memcpy(area.dst[i] + r * area.dst_stride + c, places.get(code.results[i].place),
                                static_cast<size_t>(count) * sizeof(float));
        }
    }
}

void run_short_rows(const TileCode& code, int64_t tile, const TileRectangle& area) { ShortRun(code, tile, area).run(); }

}  // namespace headway
