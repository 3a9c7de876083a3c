#include "ops/softmax.h"

#include <algorithm>
#include <cmath>

#include "ops/arguments.h"

namespace headway {
namespace {

int64_t softmax_axis(const Attributes& attributes, int version, size_t rank) {
    // Before opset 13 the input is a matrix of the axes before and from `axis` on, and `axis` may be the rank.
    if (version < 13 && attributes.integer("axis", 1) == static_cast<int64_t>(rank)) return static_cast<int64_t>(rank);
    return axis_of(attributes, version < 13 ? 1 : -1, rank);
}

void infer_softmax(InferContext& context) {
    softmax_axis(context.attributes(), context.version(), context.shape(0).rank());
    context.set_output(0, context.type(0), context.shape(0));
}

std::vector<AttributeDoc> softmax_attributes() {
    return {{"axis", "int", "-1", "the axis of a line; before opset 13 (default 1) all axes from it on make one line"}};
}

// The largest element; NaN anywhere makes the whole line NaN, through the sums.
double top_of(std::span<const double> line) { return line.empty() ? 0 : *std::max_element(line.begin(), line.end()); }

template <class F>
void change_softmax_lines(const ReferenceContext& context, F&& change) {
    change_lines(context, softmax_lines(context.attributes, context.version, context.in(0).shape()), change);
}

void softmax_reference(const ReferenceContext& context) { change_softmax_lines(context, softmax_line); }

void log_softmax_reference(const ReferenceContext& context) { change_softmax_lines(context, log_softmax_line); }

void hardmax_reference(const ReferenceContext& context) {
    change_softmax_lines(context, [](std::vector<double>& line) {
        const auto top = std::max_element(line.begin(), line.end()) - line.begin();
        for (size_t i = 0; i < line.size(); ++i) line[i] = static_cast<std::ptrdiff_t>(i) == top ? 1 : 0;
    });
}

}  // namespace

Lines softmax_lines(const Attributes& attributes, int version, const Shape& shape) {
    const auto axis = static_cast<size_t>(softmax_axis(attributes, version, shape.rank()));
    if (version >= 13) return Lines::along(shape, axis);
    return {shape.elements(0, axis), shape.elements(axis, shape.rank()), 1};
}

void softmax_line(std::span<double> line) {
    const double top = top_of(line);
    double sum = 0;
    for (double& value : line) sum += value = std::exp(value - top);
    for (double& value : line) value /= sum;
}

void log_softmax_line(std::span<double> line) {
    const double top = top_of(line);
    double sum = 0;
    for (double value : line) sum += std::exp(value - top);
    for (double& value : line) value = value - top - std::log(sum);
}

const Op softmax_op{{
    .name = "Softmax",
    .since = {1, 11, 13},
    .types = float_types,
    .attributes = softmax_attributes(),
    .infer = infer_softmax,
    .reference = softmax_reference,
    .help = "exp(x) / sum(exp(x)) along an axis. A line with NaN, or of -infinity only, becomes NaN.",
}};

const Op log_softmax_op{{
    .name = "LogSoftmax",
    .since = {1, 11, 13},
    .types = float_types,
    .attributes = softmax_attributes(),
    .infer = infer_softmax,
    .reference = log_softmax_reference,
    .help = "Logarithm of Softmax.",
}};

const Op hardmax_op{{
    .name = "Hardmax",
    .since = {1, 11, 13},
    .types = float_types,
    .attributes = softmax_attributes(),
    .infer = infer_softmax,
    .reference = hardmax_reference,
    .help = "1 for the first largest element along an axis, 0 for the others.",
}};

}  // namespace headway
