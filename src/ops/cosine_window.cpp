#include <array>
#include <cmath>
#include <numbers>

#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

// A window is a - b cos(t) + c cos(2t) for t from 0 to a full turn.
using CosineSum = std::array<double, 3>;

void infer_cosine_window(InferContext& context) {
    const Tensor& size = context.required(0, "its size");
    scalar_of(size, "its size");
    const int64_t count = size.to_int64()[0];
    if (count < 1) throw UserError("a window of " + std::to_string(count) + " points does not exist");
    if (count == 1 && context.attributes().integer("periodic", 1) == 0)
        throw Unsupported("a symmetric window of one point has no value by the definition");
    context.set_output(0, type_of(context.attributes(), "output_datatype", ElementType::f32, number_types),
                       Shape{count});
}

std::function<void(const ReferenceContext&)> cosine_window_reference(CosineSum sum) {
    return [sum](const ReferenceContext& context) {
        const int64_t count = context.out(0).elements();
        const auto period = static_cast<double>(context.attributes.integer("periodic", 1) != 0 ? count : count - 1);
        std::vector<double> y;
        for (int64_t i = 0; i < count; ++i) {
            const double t = 2 * std::numbers::pi * static_cast<double>(i) / period;
            y.push_back(sum[0] - sum[1] * std::cos(t) + sum[2] * std::cos(2 * t));
        }
        store_doubles(y, context.out(0));
    };
}

std::vector<AttributeDoc> cosine_window_attributes() {
    return {{"output_datatype", "int", "1", "element type of the output"},
            {"periodic", "int", "1", "1: the first points of a symmetric window with one point more"}};
}

}  // namespace

const Op blackman_window_op{{
    .name = "BlackmanWindow",
    .since = {17},
    .types = index_types,
    .attributes = cosine_window_attributes(),
    .infer = infer_cosine_window,
    .reference = cosine_window_reference({0.42, 0.5, 0.08}),
    .help = "0.42 - 0.5 cos(t) + 0.08 cos(2t) over one turn.",
}};

const Op hamming_window_op{{
    .name = "HammingWindow",
    .since = {17},
    .types = index_types,
    .attributes = cosine_window_attributes(),
    .infer = infer_cosine_window,
    .reference = cosine_window_reference({25.0 / 46, 21.0 / 46, 0}),
    .help = "25/46 - 21/46 cos(t) over one turn.",
}};

const Op hann_window_op{{
    .name = "HannWindow",
    .since = {17},
    .types = index_types,
    .attributes = cosine_window_attributes(),
    .infer = infer_cosine_window,
    .reference = cosine_window_reference({0.5, 0.5, 0}),
    .help = "0.5 - 0.5 cos(t) over one turn.",
}};

}  // namespace headway
