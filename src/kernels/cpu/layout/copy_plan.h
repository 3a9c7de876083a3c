// A list of strided copies between the tensors of one step: what every data movement kernel is prepared into.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/layout/strided_copy.h"
#include "kernels/kernel.h"

namespace headway {

// How one axis of a box of the dst is read: dst positions dst_start + i come from src positions src_start + i *
// src_step of src axis src_axis (-1: the src has no such axis), i < extent.
struct BoxAxis {
    int64_t extent = 0;
    int64_t dst_start = 0;
    int src_axis = -1;
    int64_t src_start = 0;
    int64_t src_step = 1;
};

class CopyPlan {
public:
    // Copies a box, one BoxAxis for each axis of the dst. Any layouts; where one is blocked the channel axis must be
    // read forwards from the channel axis, or be constant.
    void add_box(int src, const TensorDesc& src_desc, int dst, const TensorDesc& dst_desc,
                 const std::vector<BoxAxis>& axes);
    // Sets a box to `value` (the element's bytes).
    void fill_box(const std::array<std::byte, 8>& value, int dst, const TensorDesc& dst_desc,
                  const std::vector<BoxAxis>& axes);
    // Zeroes the padding channels of a blocked dst; nothing for other layouts.
    void clear_padding(int dst, const TensorDesc& desc);
    void add(int src, int dst, StridedCopy copy);

    struct Part {
        int src = -1;  // -1: `value`
        int dst = 0;
        std::array<std::byte, 8> value{};
        StridedCopy copy{{}, 0, 0, 1};
    };
    const std::vector<Part>& parts() const { return parts_; }
    // Cuts every copy into tiles of about so many bytes.
    void cut(int64_t tile_bytes) {
        for (Part& part : parts_) part.copy.cut(tile_bytes);
    }

private:
    struct Sides;
    void add_sides(const Sides& sides);
    void add_channels(const Sides& sides, int64_t first, int64_t count);
    void append(const Sides& sides, std::vector<CopyDim> dims, int64_t first_channel);
    std::vector<Part> parts_;
};

// Every axis of a shape read as it stands.
std::vector<BoxAxis> whole_box(const Shape& shape);

// A data movement kernel: checks the problem and, where `plan` is not null, fills it.
using CopyPlanner = Verdict (*)(const Problem& problem, CopyPlan* plan);

// What holds for every data movement, then what the planner says.
Verdict check_copy(const Problem& problem, CopyPlanner planner);

// The kernel of one planner for an instruction set, "<family>.copy.<isa>". There are two of each: AVX-512 moves nothing
// faster.
Kernel::Fields copy_kernel(const std::string& family, const std::string& help, std::vector<std::string> ops,
                           CopyPlanner planner, Isa isa);

}  // namespace headway
