#include <functional>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/window.h"

namespace headway {
namespace {

// Windows over the image, whose outputs are the blocks; checks that the columns are as many.
std::vector<Window> col2im_windows(const Attributes& attributes, const Shape& columns,
                                   const std::vector<int64_t>& image, const std::vector<int64_t>& block) {
    if (columns.rank() != 3) throw UserError("its input has rank " + std::to_string(columns.rank()) + " instead of 3");
    require_length(block, image.size(), "block_shape");
    constexpr int64_t limit = int64_t{1} << 30;
    for (size_t i = 0; i < image.size(); ++i)
        if (image[i] < 0 || block[i] < 1 || block[i] > limit)
            throw UserError("an extent of its image or block is out of range");
    const int64_t taps = checked_product(block, "its block");
    if (columns[1] % taps != 0) throw UserError("its columns are no multiple of a block of " + std::to_string(taps));
    std::vector<int64_t> dims{columns[0], columns[1] / taps};
    dims.insert(dims.end(), image.begin(), image.end());
    std::vector<Window> windows = windows_of(attributes, Shape(std::move(dims)), block);
    int64_t blocks = 1;
    for (const Window& window : windows) blocks = checked_mul(blocks, window.out, "the number of blocks");
    if (columns[2] != blocks)
        throw UserError("its input has " + std::to_string(columns[2]) + " blocks instead of " + std::to_string(blocks));
    return windows;
}

void infer_col2im(InferContext& context) {
    const std::vector<int64_t> image = context.required_integers(1, "image_shape");
    const std::vector<int64_t> block = context.required_integers(2, "block_shape");
    const Shape& columns = context.shape(0);
    col2im_windows(context.attributes(), columns, image, block);
    std::vector<int64_t> dims{columns[0], columns[1] / checked_product(block, "its block")};
    dims.insert(dims.end(), image.begin(), image.end());
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

// Where each element of one channel's columns lands in the image, or -1 for the padding.
std::vector<int64_t> col2im_targets(const std::vector<Window>& windows) {
    const std::vector<Window> axes = three_axes(windows);
    std::vector<int64_t> targets;
    const auto walk = [](int64_t a, int64_t b, int64_t c, auto&& visit) {
        for (int64_t i = 0; i < a; ++i)
            for (int64_t j = 0; j < b; ++j)
                for (int64_t k = 0; k < c; ++k) visit(i, j, k);
    };
    walk(axes[0].kernel, axes[1].kernel, axes[2].kernel, [&](int64_t kz, int64_t ky, int64_t kx) {
        walk(axes[0].out, axes[1].out, axes[2].out, [&](int64_t oz, int64_t oy, int64_t ox) {
            const int64_t z = axes[0].position(oz, kz);
            const int64_t y = axes[1].position(oy, ky);
            const int64_t x = axes[2].position(ox, kx);
            const bool inside = z >= 0 && z < axes[0].in && y >= 0 && y < axes[1].in && x >= 0 && x < axes[2].in;
            targets.push_back(inside ? (z * axes[1].in + y) * axes[2].in + x : -1);
        });
    });
    return targets;
}

void col2im_reference(const ReferenceContext& context) {
    if (context.out(0).elements() == 0) return;
    const std::vector<int64_t> targets = col2im_targets(
        col2im_windows(context.attributes, context.in(0).shape(), context.in(1).to_int64(), context.in(2).to_int64()));
    const Shape& shape = context.out(0).shape();
    const int64_t plane = shape.elements(2, shape.rank());
    visit_number(context.in(0).type(), [&]<class E>(E) {
        const auto* x = stored<typename E::Storage>(context.in(0));
        auto* y = stored<typename E::Storage>(context.out(0));
        for (int64_t channel = 0; channel < shape[0] * shape[1]; ++channel) {
            std::vector<typename E::Compute> sums(static_cast<size_t>(plane));
            for (int64_t target : targets) {
                const auto value = E::load(*x++);
                if (target < 0) continue;
                auto& sum = sums[static_cast<size_t>(target)];
                sum = wrapping(sum, value, std::plus{});
            }
            for (const auto& sum : sums) *y++ = E::store(sum);
        }
    });
}

}  // namespace

const Op col2im_op{{
    .name = "Col2Im",
    .since = {18},
    .inputs = {3, 3},
    .types = number_types,
    .attributes = {{"dilations", "ints", "1", "distance of a block's elements, per axis"},
                   {"pads", "ints", "0", "padding at the begin of each axis, then at the end"},
                   {"strides", "ints", "1", "distance of blocks, per axis"}},
    .infer = infer_col2im,
    .reference = col2im_reference,
    .help = "Blocks, one a column, added up where they lie in an image of one to three axes; integers wrap.",
}};

}  // namespace headway
