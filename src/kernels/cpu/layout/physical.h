// The extents of a tensor in the order in which they lie in memory, and the strides of its logical axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/layout.h"

namespace headway {

// One extent in memory: a logical axis, or one of the two parts of a blocked channel axis.
struct PhysicalDim {
    enum class Part : uint8_t { whole, block, lane } part = Part::whole;
    size_t axis = 0;
    int64_t extent = 1;
};

// Outermost first.
std::vector<PhysicalDim> physical_dims(const TensorDesc& desc);

// Strides in elements of the logical axes. Of a blocked channel axis, axis[1] steps over a lane, block_stride over a
// block.
struct AxisStrides {
    std::vector<int64_t> axis;
    int64_t block_stride = 0;
};

AxisStrides axis_strides(const TensorDesc& desc);

}  // namespace headway
