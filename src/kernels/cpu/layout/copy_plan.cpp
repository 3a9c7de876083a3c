#include "kernels/cpu/layout/copy_plan.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "kernels/cpu/layout/physical.h"

namespace headway {
namespace {

const Knob<int64_t> transpose_block{{
    .name = "layout.transpose_block",
    .help =
        "Columns that a transpose finishes before it goes on to the next rows: narrow blocks write whole cache lines "
        "sooner, wide ones read longer runs.",
    .family = "kernel",
    .values = {32, 8, 16, 64, 256},
    .numerics = Numerics::exact,
    .scope = Scope::site,
    .witness = "transpose",
}};

const Knob<int64_t> copy_tile_kb{{
    .name = "layout.tile_kb",
    .help = "Bytes of a unit of scheduling of a copy (reorder, transpose, concatenation, slice), in KiB: 64 are 10 to "
            "20 us at the speed of the last-level cache. Less spreads small tensors over threads, more reads longer "
            "runs of large ones.",
    .family = "kernel",
    .values = {64, 16, 256, 1024},
    .scope = Scope::site,
    .witness = "transpose",
}};

// Extents that a copy may have, so that its dimensions stay below StridedCopy::max_dims with split axes.
constexpr size_t max_copy_rank = 8;

// Elements between channel c and channel c + count, where count is a multiple of the block or stays inside one.
int64_t channel_stride(const AxisStrides& strides, int64_t block, int64_t count) {
    return block > 1 && count % block == 0 ? count / block * strides.block_stride : count * strides.axis[1];
}

int64_t channel_offset(const AxisStrides& strides, int64_t block, int64_t channel) {
    if (block == 1) return channel * strides.axis[1];
    return channel / block * strides.block_stride + channel % block * strides.axis[1];
}

// The constant inputs that the plan reads as data, in order; bounds and the like are in the plan already.
std::vector<size_t> packed_inputs(const Problem& problem, const CopyPlan& plan) {
    std::vector<size_t> inputs;
    for (size_t i = 0; i < problem.src.size(); ++i) {
        const auto reads = [&](const CopyPlan::Part& part) { return part.src == static_cast<int>(i); };
        if (problem.src[i] && problem.constant[i] && std::any_of(plan.parts().begin(), plan.parts().end(), reads))
            inputs.push_back(i);
    }
    return inputs;
}

std::vector<Tensor> pack_inputs(const Problem& problem, CopyPlanner planner, std::span<const Tensor* const> constants) {
    CopyPlan plan;
    HEADWAY_CHECK(planner(problem, &plan));
    std::vector<Tensor> blobs;
    for (size_t input : packed_inputs(problem, plan)) blobs.push_back(*constants[input]);
    return blobs;
}

class CopyPrepared final : public Prepared {
public:
    CopyPrepared(const Problem& problem, CopyPlan plan, const CopyOps& ops, int64_t block)
        : plan_(std::move(plan)), ops_(ops), block_(block), packed_(problem.src.size(), -1) {
        const std::vector<size_t> packed = packed_inputs(problem, plan_);
        for (size_t i = 0; i < packed.size(); ++i) packed_[packed[i]] = static_cast<int>(i);
        for (const CopyPlan::Part& part : plan_.parts())
            ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part.copy.tiles());
    }

    int64_t tiles(int) const override { return ends_.empty() ? 0 : ends_.back(); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        auto index = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin());
        for (; begin < end; ++index) {
            const CopyPlan::Part& part = plan_.parts()[index];
            const int64_t first = index == 0 ? 0 : ends_[index - 1];
            const int64_t last = std::min(end, ends_[index]);
            part.copy.run(source(args, part), args.dst[part.dst], begin - first, last - first, ops_, block_);
            begin = last;
        }
    }

private:
    const std::byte* source(const Args& args, const CopyPlan::Part& part) const {
        if (part.src < 0) return part.value.data();
        const int packed = packed_[static_cast<size_t>(part.src)];
        return packed < 0 ? args.src[part.src] : args.packed[packed];
    }

    CopyPlan plan_;
    const CopyOps& ops_;
    int64_t block_;
    std::vector<int> packed_;    // number of the blob that holds a constant input, else -1
    std::vector<int64_t> ends_;  // running sums of the parts' tiles
};

bool copies(const TensorDesc& desc) { return desc.shape.rank() <= max_copy_rank && size_of(desc.type) != 0; }

}  // namespace

Verdict check_copy(const Problem& problem, CopyPlanner planner) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "data movement takes none");
    if (problem.src.empty() || !problem.src[0] || problem.dst.empty())
        return Verdict::no(Reason::shape, "no input or no output");
    for (const TensorDesc& desc : problem.dst) {
        if (desc.type != problem.src[0]->type)
            return Verdict::no(Reason::element_type, "input and output types differ");
        if (!copies(desc))
            return Verdict::no(Reason::shape,
                               std::string(to_string(desc.type)) + " of rank " + std::to_string(desc.shape.rank()));
        if (desc.layout != Layout::plain && desc.shape.rank() < 3)
            return Verdict::no(Reason::layout, "rank below 3 with channels apart");
    }
    for (size_t i = 0; i < problem.src.size(); ++i)
        if (problem.src[i] && problem.constant[i] && problem.src[i]->layout != Layout::plain)
            return Verdict::no(Reason::layout, "a constant that is not plain");
    for (const std::optional<TensorDesc>& desc : problem.src)
        if (desc && (!copies(*desc) || (desc->layout != Layout::plain && desc->shape.rank() < 3)))
            return Verdict::no(Reason::shape,
                               std::string(to_string(desc->type)) + " of rank " + std::to_string(desc->shape.rank()));
    return planner(problem, nullptr);
}

namespace {

// Channels and pixels that change places touch a cache line of a large image for each few elements (Zen 5).
constexpr double transposing = 1.5;

Work copy_work(const Problem& problem, const Target& target) {
    Work work;
    for (const TensorDesc& dst : problem.dst) work.bytes += 2 * static_cast<double>(dst.bytes());
    const bool transposes = std::ranges::any_of(problem.src, [&](const std::optional<TensorDesc>& src) {
        return src && src->shape.rank() >= 3 && src->shape[1] > 1 && src->layout != problem.dst[0].layout;
    });
    if (transposes && work.bytes > static_cast<double>(target.l2_bytes)) work.bytes *= transposing;
    return work;
}

}  // namespace

// Both tensors of a box with their strides; no src_desc for a fill.
struct CopyPlan::Sides {
    const Part& ids;  // src, dst and value of the parts to be made
    const TensorDesc* src_desc;
    const TensorDesc& dst_desc;
    const std::vector<BoxAxis>& axes;
    AxisStrides src, dst;
    int64_t src_block = 1, dst_block = 1;

    Sides(const Part& part, const TensorDesc* from, const TensorDesc& to, const std::vector<BoxAxis>& box)
        : ids(part),
          src_desc(from),
          dst_desc(to),
          axes(box),
          dst(axis_strides(to)),
          dst_block(channel_block(to.layout)) {
        if (from == nullptr) return;
        src = axis_strides(*from);
        src_block = channel_block(from->layout);
    }
    bool blocked() const { return src_block > 1 || dst_block > 1; }
    // Whether channels of the src advance with those of the dst.
    bool channels_advance() const { return src_desc != nullptr && axes[1].src_axis >= 0 && axes[1].src_step != 0; }

    // A step over `channels` channels as a dimension of a copy.
    CopyDim channel_dim(int64_t extent, int64_t channels) const {
        return {extent, channels_advance() ? channel_stride(src, src_block, channels) : 0,
                channel_stride(dst, dst_block, channels)};
    }
    CopyDim axis_dim(size_t index) const {
        const BoxAxis& axis = axes[index];
        const bool reads = src_desc != nullptr && axis.src_axis >= 0;
        return {axis.extent, reads ? src.axis[static_cast<size_t>(axis.src_axis)] * axis.src_step : 0, dst.axis[index]};
    }
    // Offsets of the box's first element; channels begin `channel` further.
    int64_t src_offset(int64_t channel) const {
        int64_t offset = 0;
        for (size_t i = 0; i < axes.size() && src_desc != nullptr; ++i) {
            const BoxAxis& axis = axes[i];
            if (axis.src_axis < 0) continue;
            if (i == 1 && blocked())
                offset += channel_offset(src, src_block, axis.src_start + (channels_advance() ? channel : 0));
            else
                offset += axis.src_start * src.axis[static_cast<size_t>(axis.src_axis)];
        }
        return offset;
    }
    int64_t dst_offset(int64_t channel) const {
        int64_t offset = 0;
        for (size_t i = 0; i < axes.size(); ++i)
            offset += i == 1 && blocked() ? channel_offset(dst, dst_block, axes[i].dst_start + channel)
                                          : axes[i].dst_start * dst.axis[i];
        return offset;
    }
};

void CopyPlan::add(int src, int dst, StridedCopy copy) {
    if (copy.tiles() > 0) parts_.push_back({src, dst, {}, std::move(copy)});
}

void CopyPlan::append(const Sides& sides, std::vector<CopyDim> dims, int64_t first_channel) {
    StridedCopy copy(std::move(dims), sides.src_offset(first_channel), sides.dst_offset(first_channel),
                     size_of(sides.dst_desc.type));
    if (copy.tiles() > 0) parts_.push_back({sides.ids.src, sides.ids.dst, sides.ids.value, std::move(copy)});
}

void CopyPlan::add_sides(const Sides& sides) {
    for (const BoxAxis& axis : sides.axes)
        if (axis.extent == 0) return;
    if (!sides.blocked()) {
        std::vector<CopyDim> dims;
        for (const PhysicalDim& dim : physical_dims(sides.dst_desc)) dims.push_back(sides.axis_dim(dim.axis));
        return append(sides, std::move(dims), 0);
    }
    const BoxAxis& channels = sides.axes[1];
    const bool advance = sides.channels_advance();
    HEADWAY_CHECK(!advance || (channels.src_axis == 1 && channels.src_step == 1));
    const int64_t big = std::max(sides.src_block, sides.dst_block);
    const bool aligned =
        channels.dst_start % sides.dst_block == 0 && (!advance || channels.src_start % sides.src_block == 0);
    int64_t done = aligned ? channels.extent / big * big : 0;
    if (done > 0) add_channels(sides, 0, done);
    while (done < channels.extent) {
        int64_t count = std::min(channels.extent - done, big);
        if (sides.dst_block > 1)
            count = std::min(count, sides.dst_block - (channels.dst_start + done) % sides.dst_block);
        if (sides.src_block > 1 && advance)
            count = std::min(count, sides.src_block - (channels.src_start + done) % sides.src_block);
        add_channels(sides, done, count);
        done += count;
    }
}

// Channels [first, first + count) of the box, which lie in one block of each side or are whole blocks of both.
void CopyPlan::add_channels(const Sides& sides, int64_t first, int64_t count) {
    const int64_t big = std::max(sides.src_block, sides.dst_block);
    const bool both = sides.src_block > 1 && sides.dst_block > 1;
    const bool whole_blocks = count % big == 0;
    const int64_t lanes = whole_blocks ? (both ? std::min(sides.src_block, sides.dst_block) : big) : count;
    const CopyDim blocks = whole_blocks ? sides.channel_dim(count / big, big) : CopyDim{};
    const CopyDim halves = whole_blocks ? sides.channel_dim(big / lanes, lanes) : CopyDim{};
    const CopyDim lane = sides.channel_dim(lanes, 1);
    std::vector<CopyDim> dims;
    for (const PhysicalDim& dim : physical_dims(sides.dst_desc)) {
        if (dim.axis != 1)
            dims.push_back(sides.axis_dim(dim.axis));
        else if (dim.part == PhysicalDim::Part::whole)
            dims.insert(dims.end(), {blocks, halves, lane});
        else if (dim.part == PhysicalDim::Part::block)
            dims.insert(dims.end(), {blocks, lanes == sides.dst_block ? halves : CopyDim{}});
        else
            dims.insert(dims.end(), {lanes == sides.dst_block ? CopyDim{} : halves, lane});
    }
    append(sides, std::move(dims), first);
}

void CopyPlan::add_box(int src, const TensorDesc& src_desc, int dst, const TensorDesc& dst_desc,
                       const std::vector<BoxAxis>& axes) {
    const Part ids{.src = src, .dst = dst};
    add_sides(Sides(ids, &src_desc, dst_desc, axes));
}

void CopyPlan::fill_box(const std::array<std::byte, 8>& value, int dst, const TensorDesc& dst_desc,
                        const std::vector<BoxAxis>& axes) {
    const Part ids{.src = -1, .dst = dst, .value = value};
    add_sides(Sides(ids, nullptr, dst_desc, axes));
}

void CopyPlan::clear_padding(int dst, const TensorDesc& desc) {
    const int64_t block = channel_block(desc.layout);
    if (block == 1 || desc.shape[1] % block == 0) return;
    const int64_t used = desc.shape[1] % block;
    const AxisStrides strides = axis_strides(desc);
    const int64_t pixels = desc.shape.elements(2, desc.shape.rank());
    StridedCopy copy({{desc.shape[0], 0, strides.axis[0]}, {pixels, 0, block}, {block - used, 0, 1}}, 0,
                     channel_offset(strides, block, desc.shape[1]), size_of(desc.type));
    if (copy.tiles() > 0) parts_.push_back({-1, dst, {}, std::move(copy)});
}

std::vector<BoxAxis> whole_box(const Shape& shape) {
    std::vector<BoxAxis> axes;
    for (size_t axis = 0; axis < shape.rank(); ++axis) axes.push_back({shape[axis], 0, static_cast<int>(axis), 0, 1});
    return axes;
}

Kernel::Fields copy_kernel(const std::string& family, const std::string& help, std::vector<std::string> ops,
                           CopyPlanner planner, Isa isa) {
    return {
        .name = family + ".copy." + std::string(to_string(isa)),
        .algorithm = "copy",
        .help = help,
        .ops = std::move(ops),
        .isa = isa,
        .numerics = Numerics::exact,
        .knobs = {&transpose_block, &copy_tile_kb},
        .supports = [planner](const Problem& problem, const Target&,
                              const Choices&) { return check_copy(problem, planner); },
        .work = [](const Problem& problem, const Target& target, const Choices&) { return copy_work(problem, target); },
        .pack = [planner](
                    const Problem& problem, const Target&, const Choices&,
                    std::span<const Tensor* const> constants) { return pack_inputs(problem, planner, constants); },
        .prepare = [planner, isa](const Problem& problem, const Target&,
                                  const Choices& choices) -> std::unique_ptr<Prepared> {
            CopyPlan plan;
            HEADWAY_CHECK(planner(problem, &plan));
            for (size_t i = 0; i < problem.dst.size(); ++i) plan.clear_padding(static_cast<int>(i), problem.dst[i]);
            plan.cut(choices.get(copy_tile_kb) * 1024);
            const CopyOps& inner = isa == Isa::baseline ? baseline::copy_ops() : avx2::copy_ops();
            return std::make_unique<CopyPrepared>(problem, std::move(plan), inner, choices.get(transpose_block));
        },
    };
}

}  // namespace headway
