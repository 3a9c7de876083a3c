// Random nodes that move elements.
#include <algorithm>
#include <numeric>

#include "maker.h"

namespace headway::testing {
namespace {

bool is_movable(const Maker& maker, ValueId id) { return size_of(maker.type(id)) > 0; }

std::optional<ValueId> pick_movable(Maker& maker, size_t least_rank, bool may_be_empty = true) {
    return maker.pick([&](ValueId id) {
        return is_movable(maker, id) && maker.shape(id).rank() >= least_rank &&
               (may_be_empty || maker.shape(id).elements() > 0);
    });
}

size_t random_axis(Maker& maker, const Shape& shape) {
    return static_cast<size_t>(maker.between(0, static_cast<int64_t>(shape.rank()) - 1));
}

int64_t spelled_axis(Maker& maker, size_t axis, const Shape& shape) {
    return static_cast<int64_t>(axis) - (maker.rng.coin() ? static_cast<int64_t>(shape.rank()) : 0);
}

}  // namespace

void make_concat(Maker& maker) {
    const auto x = pick_movable(maker, 1);
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const size_t axis = random_axis(maker, shape);
    std::vector<ValueId> parts{*x};
    for (int64_t k = maker.between(0, 3); k > 0; --k) {
        const auto other = maker.pick([&](ValueId id) {
            Shape one = maker.shape(id);
            if (maker.type(id) != maker.type(*x) || one.rank() != shape.rank()) return false;
            one[axis] = shape[axis];
            return one == shape;
        });
        if (other) parts.push_back(*other);
    }
    if (maker.is_f32(*x) && maker.rng.chance(0.2)) parts.push_back(maker.floats(shape));
    maker.rng.shuffle(std::span<ValueId>(parts));
    maker.one("Concat", parts, {{"axis", spelled_axis(maker, axis, shape)}});
}

void make_split(Maker& maker) {
    const auto x = pick_movable(maker, 1);
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const size_t axis = random_axis(maker, shape);
    const auto parts = static_cast<size_t>(maker.between(1, 3));
    std::vector<int64_t> lengths(parts, 0);
    int64_t left = shape[axis];
    for (size_t k = 0; k + 1 < parts; ++k) {
        lengths[k] = maker.between(maker.rng.chance(0.1) ? 0 : std::min<int64_t>(left, 1),
                                   std::max<int64_t>(left / 2, std::min<int64_t>(left, 1)));
        left -= lengths[k];
    }
    lengths.back() = left;
    std::vector<size_t> absent;
    if (parts > 1 && maker.rng.chance(0.3)) absent.push_back(static_cast<size_t>(maker.rng.below(parts)));
    maker.add("Split", {*x, maker.integers(lengths)}, {{"axis", spelled_axis(maker, axis, shape)}}, parts, absent);
}

void make_slice(Maker& maker) {
    const auto x = pick_movable(maker, 1);
    if (!x) return;
    const Shape shape = maker.shape(*x);
    std::vector<int64_t> starts, ends, axes, steps;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        if (maker.rng.coin()) continue;
        const int64_t extent = shape[axis], step = maker.any_of(std::vector<int64_t>{1, 1, 1, 2, 3, -1, -2});
        const int64_t low = maker.between(0, extent / 2),
                      high = maker.between(std::max(extent / 2, std::min(low + 1, extent)), extent);
        axes.push_back(spelled_axis(maker, axis, shape));
        steps.push_back(step);
        if (step > 0) {
            starts.push_back(maker.rng.chance(0.3) ? low - extent : low);
            ends.push_back(maker.rng.chance(0.2) ? std::numeric_limits<int64_t>::max() : high);
        } else {
            starts.push_back(maker.rng.chance(0.2) ? extent + 5 : high - 1);
            ends.push_back(low == 0 ? std::numeric_limits<int64_t>::min() + 1 : low - 1);
        }
    }
    if (axes.empty()) return;
    maker.one("Slice", {*x, maker.integers(starts), maker.integers(ends), maker.integers(axes), maker.integers(steps)});
}

void make_pad(Maker& maker) {
    const auto x = maker.pick(
        [&](ValueId id) { return maker.is_f32(id) && maker.shape(id).rank() >= 1 && maker.shape(id).elements() > 0; });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const std::string_view mode = maker.any_word({"constant", "constant", "reflect", "edge", "wrap"});
    std::vector<int64_t> pads(2 * shape.rank(), 0);
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        if (maker.rng.coin()) continue;
        const int64_t most = mode == "constant" ? 3 : std::min<int64_t>(2, shape[axis] - 1);
        const int64_t least = mode == "constant" && maker.rng.chance(0.2) && shape[axis] > 2 ? -1 : 0;
        pads[axis] = maker.between(least, std::max(most, least));
        pads[shape.rank() + axis] = maker.between(least, std::max(most, least));
    }
    std::vector<ValueId> inputs{*x, maker.integers(pads)};
    if (mode == "constant" && maker.rng.coin()) inputs.push_back(maker.scalar(maker.rng.coin() ? 0.0F : 1.5F));
    maker.one("Pad", inputs, {{"mode", std::string(mode)}}, 19);
}

void make_transpose(Maker& maker) {
    const auto x = pick_movable(maker, 2);
    if (!x) return;
    std::vector<int64_t> order(maker.shape(*x).rank());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() == 4 && maker.rng.coin())
        order = maker.rng.coin() ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 3, 1, 2};
    else
        maker.rng.shuffle(std::span<int64_t>(order));
    const ValueId y = maker.one("Transpose", {*x}, {{"perm", order}});
    if (!maker.rng.chance(0.3)) return;
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    const ValueId between = maker.is_f32(y) && maker.rng.coin() ? maker.one("Relu", {y}) : y;
    maker.one("Transpose", {between}, {{"perm", back}});
}

void make_reshape(Maker& maker) {
    const auto x = pick_movable(maker, 0);
    if (!x) return;
    const Shape shape = maker.shape(*x);
    switch (maker.rng.below(5)) {
        case 0:
            maker.one("Flatten", {*x}, {{"axis", maker.between(0, static_cast<int64_t>(shape.rank()))}});
            return;
        case 1: {
            std::vector<int64_t> ones;
            for (size_t axis = 0; axis < shape.rank(); ++axis)
                if (shape[axis] == 1 && maker.rng.coin()) ones.push_back(spelled_axis(maker, axis, shape));
            if (!ones.empty()) maker.one("Squeeze", {*x, maker.integers(ones)});
            return;
        }
        case 2:
            if (shape.rank() < 5)
                maker.one("Unsqueeze", {*x, maker.integers({maker.between(0, static_cast<int64_t>(shape.rank()))})});
            return;
        default: {
            if (shape.elements() == 0) return;
            // Merge two neighbours or cut one extent; -1 and 0 as the standard means them.
            std::vector<int64_t> wanted = shape.dims();
            if (wanted.size() > 1 && maker.rng.coin()) {
                const auto at = static_cast<size_t>(maker.between(0, static_cast<int64_t>(wanted.size()) - 2));
                wanted[at] *= wanted[at + 1];
                wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(at) + 1);
            } else if (!wanted.empty() && wanted.size() < 5) {
                const size_t at = random_axis(maker, shape);
                for (const int64_t factor : {2, 3, 17})
                    if (wanted[at] % factor == 0) {
                        wanted[at] /= factor;
                        wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(at), factor);
                        break;
                    }
            }
            if (!wanted.empty() && maker.rng.coin()) wanted[static_cast<size_t>(maker.rng.below(wanted.size()))] = -1;
            maker.one("Reshape", {*x, maker.integers(wanted)});
        }
    }
}

void make_gather(Maker& maker) {
    const auto x = pick_movable(maker, 1, false);
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const size_t axis = random_axis(maker, shape);
    Shape places = maker.any_of(std::vector<Shape>{{}, {1}, {3}, {2, 2}, {0}});
    const bool elements = maker.rng.chance(0.3);
    if (elements) places = shape;
    Tensor indices(maker.rng.coin() ? ElementType::i64 : ElementType::i32, places);
    for (int64_t i = 0; i < indices.elements(); ++i)
        indices.set(i, static_cast<double>(maker.between(-shape[axis], shape[axis] - 1)));
    maker.one(elements ? "GatherElements" : "Gather", {*x, maker.constant(std::move(indices))},
              {{"axis", spelled_axis(maker, axis, shape)}});
}

void make_repeat(Maker& maker) {
    const auto x = maker.pick([&](ValueId id) {
        return is_movable(maker, id) && maker.shape(id).rank() > 0 && maker.shape(id).elements() < 500;
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    std::vector<int64_t> counts;
    if (maker.rng.coin()) {
        for (size_t axis = 0; axis < shape.rank(); ++axis)
            counts.push_back(maker.rng.coin() ? 1 : maker.between(maker.rng.chance(0.05) ? 0 : 1, 3));
        maker.one("Tile", {*x, maker.integers(counts)});
        return;
    }
    for (int64_t extent : shape)
        counts.push_back(extent == 1 && maker.rng.coin() ? maker.between(1, 4) : maker.rng.coin() ? 1 : extent);
    if (counts.size() < 5 && maker.rng.chance(0.3)) counts.insert(counts.begin(), 2);
    maker.one("Expand", {*x, maker.integers(counts)});
}

void make_resize(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() >= 3 && shape.rank() <= 4 && shape.elements() > 0 &&
               shape.elements() < 1500;
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    std::vector<int64_t> sizes = shape.dims();
    std::vector<float> scales(shape.rank(), 1.0F);
    const bool doubles = maker.rng.coin();
    for (size_t axis = 2; axis < shape.rank(); ++axis) {
        scales[axis] = doubles ? 2.0F : static_cast<float>(maker.between(2, 10)) / 4;
        sizes[axis] = doubles ? 2 * shape[axis] : maker.between(1, 2 * shape[axis] + 1);
    }
    const std::string_view mode = maker.any_word({"nearest", "linear", "cubic"});
    // A half-way position is rounded one way or the other by an error in its last place; whole factors have none.
    const std::string_view place =
        mode == "nearest" ? "asymmetric"
                          : maker.any_word({"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"});
    if (mode == "nearest" || maker.rng.coin()) {
        if (mode == "nearest") std::ranges::for_each(scales, [](float& scale) { scale = scale > 1 ? 2.0F : 1.0F; });
        maker.one("Resize",
                  {*x, no_value, maker.constant(Tensor::of<float>({static_cast<int64_t>(scales.size())}, scales))},
                  {{"mode", std::string(mode)},
                   {"coordinate_transformation_mode", std::string(place)},
                   {"nearest_mode", std::string("floor")}});
        return;
    }
    maker.one("Resize", {*x, no_value, no_value, maker.integers(sizes)},
              {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(place)}});
}

void make_blocks(Maker& maker) {
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() == 4 && (shape[1] % 4 == 0 || (shape[2] % 2 == 0 && shape[3] % 2 == 0));
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    if (shape[1] % 4 == 0)
        maker.one("DepthToSpace", {*x},
                  {{"blocksize", int64_t{2}}, {"mode", std::string(maker.rng.coin() ? "DCR" : "CRD")}});
    else
        maker.one("SpaceToDepth", {*x}, {{"blocksize", int64_t{2}}});
}

void make_order(Maker& maker) {
    const auto x = maker.pick([&](ValueId id) {
        return maker.is_f32(id) && maker.is_exact(id) && maker.shape(id).rank() > 0 && maker.shape(id).elements() > 0;
    });
    if (!x) return;
    const Shape shape = maker.shape(*x);
    const size_t axis = random_axis(maker, shape);
    const int64_t spelled = spelled_axis(maker, axis, shape);
    switch (maker.rng.below(5)) {
        case 0:
            maker.add("TopK", {*x, maker.integers({maker.between(1, shape[axis])})},
                      {{"axis", spelled}, {"largest", int64_t{maker.rng.coin() ? 1 : 0}}}, 2);
            return;
        case 1:
            maker.one(maker.any_word({"ArgMax", "ArgMin"}), {*x},
                      {{"axis", spelled}, {"keepdims", int64_t{maker.rng.coin() ? 1 : 0}}});
            return;
        case 2:
            if (!maker.special())
                maker.one(
                    "CumSum", {*x, maker.constant(Tensor::scalar(spelled))},
                    {{"exclusive", int64_t{maker.rng.coin() ? 1 : 0}}, {"reverse", int64_t{maker.rng.coin() ? 1 : 0}}});
            return;
        case 3:
            if (shape.rank() >= 2) maker.one("Trilu", {*x}, {{"upper", int64_t{maker.rng.coin() ? 1 : 0}}});
            return;
        default: {
            // Every index once: which of two writes to one place stands is not defined.
            Shape part = shape;
            part[axis] = 1;
            Tensor indices(ElementType::i64, part);
            for (int64_t i = 0; i < indices.elements(); ++i)
                indices.set(i, static_cast<double>(maker.between(-shape[axis], shape[axis] - 1)));
            maker.one("ScatterElements", {*x, maker.constant(std::move(indices)), maker.floats(part)},
                      {{"axis", spelled}});
        }
    }
}

}  // namespace headway::testing
