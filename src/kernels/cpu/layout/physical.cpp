#include "kernels/cpu/layout/physical.h"

#include <algorithm>

#include "base/checked.h"

namespace headway {

std::vector<PhysicalDim> physical_dims(const TensorDesc& desc) {
    using Part = PhysicalDim::Part;
    const Shape& shape = desc.shape;
    std::vector<PhysicalDim> dims;
    if (desc.layout == Layout::plain) {
        for (size_t axis = 0; axis < shape.rank(); ++axis) dims.push_back({Part::whole, axis, shape[axis]});
        return dims;
    }
    const int64_t block = channel_block(desc.layout);
    dims.push_back({Part::whole, 0, shape[0]});
    if (block > 1) dims.push_back({Part::block, 1, ceil_div(shape[1], block)});
    for (size_t axis = 2; axis < shape.rank(); ++axis) dims.push_back({Part::whole, axis, shape[axis]});
    dims.push_back(block > 1 ? PhysicalDim{Part::lane, 1, block} : PhysicalDim{Part::whole, 1, shape[1]});
    return dims;
}

AxisStrides axis_strides(const TensorDesc& desc) {
    AxisStrides strides;
    strides.axis.assign(desc.shape.rank(), 0);
    const std::vector<PhysicalDim> dims = physical_dims(desc);
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) {
        if (dims[i].part == PhysicalDim::Part::block)
            strides.block_stride = stride;
        else
            strides.axis[dims[i].axis] = stride;
        stride = checked_mul(stride, std::max<int64_t>(dims[i].extent, 1), "stride");
    }
    return strides;
}

}  // namespace headway
