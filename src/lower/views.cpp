#include "lower/views.h"

#include <algorithm>
#include <numeric>

namespace headway {
namespace {

// Logical axes from outermost to innermost in memory.
std::vector<size_t> memory_order(size_t rank, Layout layout) {
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    if (layout == Layout::nhwc && rank >= 3) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return order;
}

std::vector<size_t> without_ones(std::vector<size_t> order, const Shape& shape) {
    std::erase_if(order, [&](size_t axis) { return shape[axis] == 1; });
    return order;
}

std::optional<Layout> layout_with_order(const std::vector<size_t>& order, const Shape& shape) {
    for (Layout layout : {Layout::plain, Layout::nhwc}) {
        if (layout == Layout::nhwc && shape.rank() < 3) continue;
        if (without_ones(memory_order(shape.rank(), layout), shape) == order) return layout;
    }
    return std::nullopt;
}

std::optional<Layout> transposed(const Node& node, const Shape& src, Layout layout, const Shape& dst) {
    std::vector<int64_t> perm = node.attributes.integers("perm");
    if (perm.empty())
        for (size_t axis = src.rank(); axis-- > 0;) perm.push_back(static_cast<int64_t>(axis));
    std::vector<size_t> renamed(src.rank());
    for (size_t axis = 0; axis < perm.size(); ++axis) renamed[static_cast<size_t>(perm[axis])] = axis;
    std::vector<size_t> order;
    for (size_t axis : without_ones(memory_order(src.rank(), layout), src)) order.push_back(renamed[axis]);
    return layout_with_order(order, dst);
}

// Runs of src axes and of dst axes with equal products, left to right; extents of 1 belong to no run.
struct Run {
    std::vector<size_t> src, dst;
};

std::vector<Run> matching_runs(const Shape& src, const Shape& dst) {
    std::vector<Run> runs;
    size_t i = 0, j = 0;
    const auto skip_ones = [](const Shape& shape, size_t& axis) {
        while (axis < shape.rank() && shape[axis] == 1) ++axis;
    };
    for (;;) {
        skip_ones(src, i);
        skip_ones(dst, j);
        if (i == src.rank() || j == dst.rank()) return runs;
        Run run{{i}, {j}};
        int64_t a = src[i++], b = dst[j++];
        while (a != b) {
            if (a < b && i < src.rank()) {
                a *= src[i];
                run.src.push_back(i++);
            } else if (b < a && j < dst.rank()) {
                b *= dst[j];
                run.dst.push_back(j++);
            } else {
                return {};
            }
        }
        std::erase_if(run.src, [&](size_t axis) { return src[axis] == 1; });
        std::erase_if(run.dst, [&](size_t axis) { return dst[axis] == 1; });
        runs.push_back(std::move(run));
    }
}

std::optional<Layout> regrouped(const Shape& src, Layout layout, const Shape& dst) {
    const std::vector<Run> runs = matching_runs(src, dst);
    const std::vector<size_t> memory = without_ones(memory_order(src.rank(), layout), src);
    std::vector<size_t> order;
    for (size_t at = 0; at < memory.size();) {
        const auto run = std::ranges::find_if(runs, [&](const Run& r) { return r.src.front() == memory[at]; });
        // A run stays one piece of memory only when its axes are neighbours there, in order.
        if (run == runs.end() || at + run->src.size() > memory.size() ||
            !std::equal(run->src.begin(), run->src.end(), memory.begin() + static_cast<std::ptrdiff_t>(at)))
            return std::nullopt;
        at += run->src.size();
        order.insert(order.end(), run->dst.begin(), run->dst.end());
    }
    return layout_with_order(order, dst);
}

}  // namespace

std::optional<Layout> view_layout(const Node& node, const Shape& src, Layout layout, const Shape& dst) {
    if (!node.domain.empty()) return std::nullopt;
    if (node.op == "Identity") return layout;
    const bool regroups =
        node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
    if (!regroups && node.op != "Transpose") return std::nullopt;
    if (channel_block(layout) != 1) return std::nullopt;
    if (std::ranges::find(src.dims(), 0) != src.dims().end()) return std::nullopt;
    if (node.op == "Transpose") return transposed(node, src, layout, dst);
    if (layout == Layout::plain) return Layout::plain;
    return regrouped(src, layout, dst);
}

bool same_bytes(const Shape& shape, Layout a, Layout b) {
    if (a == b) return true;
    const auto bytes_as = [&](Layout layout) -> std::optional<std::vector<size_t>> {
        const int64_t block = channel_block(layout);
        if (block == 1) return without_ones(memory_order(shape.rank(), layout), shape);
        // One block of channels that fills it is channels innermost; one pixel with whole blocks is plain.
        if (shape.rank() < 3 || shape[1] % block != 0) return std::nullopt;
        if (shape[1] == block) return without_ones(memory_order(shape.rank(), Layout::nhwc), shape);
        if (shape.elements(2, shape.rank()) == 1) return without_ones(memory_order(shape.rank(), Layout::plain), shape);
        return std::nullopt;
    };
    const auto order_a = bytes_as(a), order_b = bytes_as(b);
    return order_a && order_b && *order_a == *order_b;
}

}  // namespace headway
