#include "ops/strided.h"

#include <algorithm>

#include "ops/element.h"

namespace headway {

Strides broadcast_strides(const Shape& from, const Shape& to) {
    const Strides own = from.strides();
    Strides strides(to.rank(), 0);
    const size_t lead = to.rank() - from.rank();
    for (size_t axis = 0; axis < from.rank(); ++axis)
        if (from[axis] != 1) strides[lead + axis] = own[axis];
    return strides;
}

void strided_copy(const Tensor& src, int64_t src_offset, const Strides& src_strides, Tensor& dst, int64_t dst_offset,
                  const Strides& dst_strides, const Shape& shape) {
    const StridedLoop<2> loop(shape, {src_strides, dst_strides});
    visit_size(src.type(), [&](auto word) {
        using Word = decltype(word);
        const Word* from = stored<Word>(src) + src_offset;
        Word* to = stored<Word>(dst) + dst_offset;
        loop.for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            const Word* in = from + offsets[0];
            Word* out = to + offsets[1];
            if (steps[0] == 1 && steps[1] == 1) {
                std::copy_n(in, count, out);
            } else {
                for (int64_t i = 0; i < count; ++i) out[i * steps[1]] = in[i * steps[0]];
            }
        });
    });
}

void strided_copy(const Strings& src, int64_t src_offset, const Strides& src_strides, Strings& dst, int64_t dst_offset,
                  const Strides& dst_strides, const Shape& shape) {
    const auto from = src.values.begin() + src_offset;
    const auto to = dst.values.begin() + dst_offset;
    StridedLoop<2>(shape, {src_strides, dst_strides})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i) to[offsets[1] + i * steps[1]] = from[offsets[0] + i * steps[0]];
        });
}

}  // namespace headway
