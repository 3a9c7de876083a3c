// Where the values under a convolution's window lie, as row pointers for the register tiles of a product: one row for
// each output pixel, cut into segments of consecutive floats. The order within a row is (kernel row, kernel column,
// channel) in all forms, so that they share packed weights and give equal bits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/conv/pixels.h"

namespace headway {

class Windows {
public:
    explicit Windows(const ConvGeometry& geometry) : geometry_(geometry) {}
    virtual ~Windows() = default;

    int64_t segments() const { return segments_; }
    int64_t run() const { return run_; }
    int64_t group_step() const { return group_step_; }  // floats from one group's values to the next group's

    // Blocks of about `rows` pixels.
    virtual std::vector<PixelBlock> blocks(int64_t rows) const;
    // Floats of scratch that find() needs for any of the blocks.
    virtual int64_t scratch_floats(const std::vector<PixelBlock>& blocks) const = 0;
    // pointers[segment * block.count + i] for each pixel i of the block.
    virtual void find(const float* src, const PixelBlock& block, const float** pointers, float* scratch) const = 0;

protected:
    ConvGeometry geometry_;
    int64_t segments_ = 1, run_ = 0, group_step_ = 0;
};

// A pointer for each tap, straight into the image; taps beyond its edge point at zeros ("indirect", and 1x1).
std::unique_ptr<Windows> tap_windows(const ConvGeometry& geometry);
// The block's windows copied out, one contiguous row for each pixel ("im2col").
std::unique_ptr<Windows> column_windows(const ConvGeometry& geometry);
// The block's part of the image copied with its padding, so that each kernel row is one run of kw * ic floats; the
// image itself is used where no padding is touched. Reads nhwc, or plain images of few channels. Needs dilation_w 1
// and one group.
std::unique_ptr<Windows> row_windows(const ConvGeometry& geometry, bool plain_image);

}  // namespace headway
