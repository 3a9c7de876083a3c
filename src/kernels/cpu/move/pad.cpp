// Pad with known widths: the dst is a grid of boxes, up to three along each axis, and each is a fill or a copy that
// reads forwards (inside), backwards (reflect) or one element again and again (edge).
#include <algorithm>
#include <cstring>

#include "kernels/cpu/layout/copy_plan.h"

namespace headway {
namespace {

struct Pads {
    std::vector<int64_t> before, after;
    std::string mode;
    std::array<std::byte, 8> value{};
};

Verdict widths_of(const Problem& problem, Pads& pads) {
    const size_t rank = problem.src[0]->shape.rank();
    const bool from_input = problem.src.size() > 1 && problem.src[1];
    if (from_input && !constant_integers(problem, 1))
        return Verdict::no(Reason::needs_constant, "pads that are not known");
    const std::vector<int64_t> widths =
        from_input ? *constant_integers(problem, 1) : problem.attributes.integers("pads");
    std::vector<int64_t> axes;
    if (problem.src.size() > 3 && problem.src[3]) {
        if (!constant_integers(problem, 3)) return Verdict::no(Reason::needs_constant, "axes that are not known");
        axes = *constant_integers(problem, 3);
    } else {
        for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    }
    if (widths.size() != 2 * axes.size()) return Verdict::no(Reason::attribute, "pads of another rank");
    pads.before.assign(rank, 0);
    pads.after.assign(rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
        const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i];
        if (axis < 0 || axis >= static_cast<int64_t>(rank))
            return Verdict::no(Reason::attribute, "axis " + std::to_string(axes[i]));
        pads.before[static_cast<size_t>(axis)] = widths[i];
        pads.after[static_cast<size_t>(axis)] = widths[i + axes.size()];
    }
    return Verdict::yes();
}

Verdict value_of(const Problem& problem, Pads& pads) {
    if (pads.mode != "constant") return Verdict::yes();
    if (problem.src.size() > 2 && problem.src[2]) {
        if (const auto reals = constant_reals(problem, 2); reals && reals->size() == 1) {
            std::memcpy(pads.value.data(), reals->data(), sizeof(float));
            return Verdict::yes();
        }
        const auto integers = constant_integers(problem, 2);
        if (!integers || integers->size() != 1 || (*integers)[0] != 0)
            return Verdict::no(Reason::needs_constant, "a pad value that is not known");
        return Verdict::yes();
    }
    const float value = problem.attributes.real("value", 0);
    if (value != 0 && problem.src[0]->type != ElementType::f32)
        return Verdict::no(Reason::element_type, "a pad value for integers");
    std::memcpy(pads.value.data(), &value, sizeof value);
    return Verdict::yes();
}

// One piece of the dst along one axis.
struct Piece {
    BoxAxis box;
    bool outside = false;
};

std::vector<Piece> pieces_of(const Pads& pads, size_t axis, int64_t src_extent) {
    const int64_t before = pads.before[axis], after = pads.after[axis];
    const int index = static_cast<int>(axis);
    const bool reflect = pads.mode == "reflect";
    // Negative widths crop.
    const int64_t first = std::max<int64_t>(0, -before);
    const int64_t inside = src_extent - first - std::max<int64_t>(0, -after);
    std::vector<Piece> pieces;
    if (before > 0) pieces.push_back({{before, 0, index, reflect ? before : 0, reflect ? -1 : 0}, true});
    pieces.push_back({{std::max<int64_t>(inside, 0), std::max<int64_t>(before, 0), index, first, 1}, false});
    if (after > 0) {
        const int64_t start = std::max<int64_t>(before, 0) + inside;
        pieces.push_back({{after, start, index, reflect ? src_extent - 2 : src_extent - 1, reflect ? -1 : 0}, true});
    }
    return pieces;
}

Verdict check_widths(const Problem& problem, const Pads& pads) {
    const TensorDesc& src = *problem.src[0];
    const TensorDesc& dst = problem.dst[0];
    const bool blocked = channel_block(src.layout) > 1 || channel_block(dst.layout) > 1;
    if (src.shape.rank() != dst.shape.rank()) return Verdict::no(Reason::shape, "ranks differ");
    for (size_t axis = 0; axis < src.shape.rank(); ++axis) {
        const int64_t before = pads.before[axis], after = pads.after[axis], extent = src.shape[axis];
        if (dst.shape[axis] != extent + before + after)
            return Verdict::no(Reason::shape, src.shape.text() + " to " + dst.shape.text());
        const bool copies = pads.mode != "constant" && (before > 0 || after > 0);
        if (copies && pads.mode == "reflect" && std::max(before, after) >= extent)
            return Verdict::no(Reason::shape, "a reflection wider than the input");
        if (copies && std::min(before, after) < 0)
            return Verdict::no(Reason::attribute, "cropping with mode " + pads.mode);
        if (copies && extent == 0) return Verdict::no(Reason::shape, "nothing to repeat");
        if (axis == 1 && blocked && copies)
            return Verdict::no(Reason::layout, "blocked channels with mode " + pads.mode);
    }
    return Verdict::yes();
}

void add_pieces(const Problem& problem, const Pads& pads, CopyPlan& plan) {
    const TensorDesc& src = *problem.src[0];
    std::vector<std::vector<Piece>> pieces;
    size_t boxes = 1;
    for (size_t axis = 0; axis < src.shape.rank(); ++axis) {
        pieces.push_back(pieces_of(pads, axis, src.shape[axis]));
        boxes *= pieces.back().size();
    }
    for (size_t number = 0; number < boxes; ++number) {
        std::vector<BoxAxis> box;
        bool outside = false;
        size_t left = number;
        for (const std::vector<Piece>& choices : pieces) {
            const Piece& piece = choices[left % choices.size()];
            left /= choices.size();
            box.push_back(piece.box);
            outside = outside || piece.outside;
        }
        if (outside && pads.mode == "constant")
            plan.fill_box(pads.value, 0, problem.dst[0], box);
        else
            plan.add_box(0, src, 0, problem.dst[0], box);
    }
}

Verdict plan_pad(const Problem& problem, CopyPlan* plan) {
    Pads pads;
    pads.mode = problem.attributes.text("mode", "constant");
    if (pads.mode != "constant" && pads.mode != "reflect" && pads.mode != "edge")
        return Verdict::no(Reason::attribute, "mode " + pads.mode);
    if (Verdict verdict = widths_of(problem, pads); !verdict) return verdict;
    if (Verdict verdict = value_of(problem, pads); !verdict) return verdict;
    if (Verdict verdict = check_widths(problem, pads); !verdict) return verdict;
    if (plan != nullptr) add_pieces(problem, pads, *plan);
    return Verdict::yes();
}

const std::string help = "Constant, reflecting or edge padding as a grid of copies and fills.";
const Kernel pad_baseline{copy_kernel("pad", help, {"Pad"}, plan_pad, Isa::baseline)};
const Kernel pad_avx2{copy_kernel("pad", help, {"Pad"}, plan_pad, Isa::avx2)};

}  // namespace
}  // namespace headway
