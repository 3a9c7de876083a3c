#include <algorithm>
#include <array>
#include <cmath>

#include "base/call_work.h"
#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

struct NmsBox {
    double low[2], high[2];

    double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// Corners in any order, or centre and extents.
NmsBox nms_box(const float* numbers, bool by_centre) {
    NmsBox box;
    for (int axis = 0; axis < 2; ++axis) {
        const double a = numbers[axis];
        const double b = numbers[axis + 2];
        box.low[axis] = by_centre ? a - b / 2 : std::min(a, b);
        box.high[axis] = by_centre ? a + b / 2 : std::max(a, b);
    }
    return box;
}

// Area of the intersection over that of the union; boxes without area overlap with nothing.
double box_overlap(const NmsBox& a, const NmsBox& b) {
    double intersection = 1;
    for (int axis = 0; axis < 2; ++axis)
        intersection *= std::max(0.0, std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]));
    const double united = a.area() + b.area() - intersection;
    if (intersection <= 0 || a.area() <= 0 || b.area() <= 0 || united <= 0) return 0;
    return intersection / united;
}

struct NmsOperands {
    const Tensor& boxes;
    const Tensor& scores;
    int64_t most = 0;  // boxes kept of each class of each image
    double overlap = 0;
    const Tensor* least_score = nullptr;
    bool by_centre = false;
};

// operand(i) gives input i or nullptr.
template <class Operand>
NmsOperands nms_operands(const Attributes& attributes, Operand&& operand) {
    NmsOperands operands{*operand(0), *operand(1), 0, 0, operand(4), attributes.integer("center_point_box", 0) != 0};
    if (const Tensor* most = operand(2)) {
        scalar_of(*most, "max_output_boxes_per_class");
        operands.most = most->to_int64()[0];
    }
    if (const Tensor* threshold = operand(3)) operands.overlap = scalar_of(*threshold, "iou_threshold");
    if (operands.least_score != nullptr) scalar_of(*operands.least_score, "score_threshold");
    return operands;
}

// Boxes of one class of one image that stay, best first; of equal scores the lower index wins.
std::vector<int64_t> kept_boxes(const std::vector<NmsBox>& boxes, const float* scores, const NmsOperands& operands) {
    std::vector<int64_t> order;
    for (size_t i = 0; i < boxes.size(); ++i) {
        if (std::isnan(scores[i])) throw UserError("a score is NaN");
        if (operands.least_score == nullptr || scores[i] > operands.least_score->at(0))
            order.push_back(static_cast<int64_t>(i));
    }
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    std::vector<int64_t> kept;
    for (int64_t next : order) {
        if (static_cast<int64_t>(kept.size()) >= operands.most) break;
        charge_reference_work(static_cast<int64_t>(kept.size()));
        const NmsBox& box = boxes[static_cast<size_t>(next)];
        if (std::ranges::none_of(kept, [&](int64_t other) {
                return box_overlap(box, boxes[static_cast<size_t>(other)]) > operands.overlap;
            }))
            kept.push_back(next);
    }
    return kept;
}

// Image, class and box of each box that stays.
std::vector<std::array<int64_t, 3>> selected_boxes(const NmsOperands& operands) {
    const Shape& shape = operands.scores.shape();
    const int64_t count = shape[2];
    const float* numbers = operands.boxes.data<float>().data();
    const float* scores = operands.scores.data<float>().data();
    std::vector<std::array<int64_t, 3>> selected;
    for (int64_t image = 0; image < shape[0]; ++image) {
        std::vector<NmsBox> boxes;
        for (int64_t i = 0; i < count; ++i)
            boxes.push_back(nms_box(numbers + (image * count + i) * 4, operands.by_centre));
        for (int64_t c = 0; c < shape[1]; ++c)
            for (int64_t box : kept_boxes(boxes, scores + (image * shape[1] + c) * count, operands))
                selected.push_back({image, c, box});
    }
    return selected;
}

void infer_non_max_suppression(InferContext& context) {
    const Shape& boxes = context.shape(0);
    const Shape& scores = context.shape(1);
    if (context.type(1) != ElementType::f32) throw UserError("its scores are not f32");
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes != Shape{scores[0], scores[2], 4})
        throw UserError("boxes of " + boxes.text() + " do not fit scores of " + scores.text());
    constexpr const char* names[] = {"its boxes (how many stay depends on them)",
                                     "its scores (how many boxes stay depends on them)", "max_output_boxes_per_class",
                                     "iou_threshold", "score_threshold"};
    const NmsOperands operands = nms_operands(
        context.attributes(), [&](size_t i) { return context.has(i) ? &context.required(i, names[i]) : nullptr; });
    context.set_output(0, ElementType::i64, Shape{static_cast<int64_t>(selected_boxes(operands).size()), 3});
}

void non_max_suppression_reference(const ReferenceContext& context) {
    int64_t* y = context.out(0).mutable_data<int64_t>().data();
    const NmsOperands operands =
        nms_operands(context.attributes, [&](size_t i) { return context.has(i) ? &context.in(i) : nullptr; });
    for (const std::array<int64_t, 3>& selected : selected_boxes(operands)) y = std::ranges::copy(selected, y).out;
}

}  // namespace

const Op non_max_suppression_op{{
    .name = "NonMaxSuppression",
    .since = {10, 11},
    .inputs = {2, 5},
    .types = {ElementType::f32},
    .attributes = {{"center_point_box", "int", "0", "0: boxes are two corners (y, x), 1: centre, width and height"}},
    .infer = infer_non_max_suppression,
    .reference = non_max_suppression_reference,
    .help = "Image, class and index of the boxes that stay when each class drops those that overlap with a better one. "
            "Boxes and scores must be known when an engine is built.",
}};

}  // namespace headway
