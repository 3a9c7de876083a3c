// Pooling of 8-bit integers with one scale and zero point each, as ONNX Runtime's quantiser writes it, and pooling with
// the channels last.
#include "ops/doubles.h"
#include "ops/op.h"
#include "ops/pool.h"
#include "ops/quantize.h"
#include "ops/strided.h"

namespace headway {
namespace {

constexpr TypeSet qlinear_pool_types{ElementType::i8, ElementType::u8};

bool channels_are_last(const Attributes& attributes) { return attributes.integer("channels_last", 0) != 0; }

// Images x channels x extents from images x extents x channels.
Shape with_channels_first(const Shape& shape, bool are_last) {
    if (shape.rank() < 3) throw UserError("its input has rank " + std::to_string(shape.rank()) + ", less than 3");
    if (!are_last) return shape;
    std::vector<int64_t> dims{shape[0], shape.back()};
    dims.insert(dims.end(), shape.begin() + 1, shape.end() - 1);
    return Shape(std::move(dims));
}

Shape with_channels_last(const Shape& shape, bool are_last) {
    if (!are_last) return shape;
    std::vector<int64_t> dims{shape[0]};
    dims.insert(dims.end(), shape.begin() + 2, shape.end());
    dims.push_back(shape[1]);
    return Shape(std::move(dims));
}

// Each image, rows x columns, turned.
std::vector<double> turned_images(const std::vector<double>& values, int64_t images, int64_t rows, int64_t columns) {
    std::vector<double> turned(values.size());
    const double* next = values.data();
    for (int64_t image = 0; image < images; ++image)
        for (int64_t row = 0; row < rows; ++row)
            for (int64_t column = 0; column < columns; ++column, ++next)
                turned[static_cast<size_t>((image * columns + column) * rows + row)] = *next;
    return turned;
}

// `pool(values, shape)` on values with the channels first; `shape` is that of the input, `result` that of the output.
template <class F>
std::vector<double> pool_channels_first(std::vector<double> x, const Shape& shape, const Shape& result, bool are_last,
                                        F&& pool) {
    const Shape inner = with_channels_first(shape, are_last);
    if (!are_last) return pool(x, inner);
    const int64_t extents = inner.elements(2, inner.rank());
    const std::vector<double> y = pool(turned_images(x, inner[0], extents, inner[1]), inner);
    return turned_images(y, inner[0], inner[1], result.elements(1, result.rank() - 1));
}

Shape pooled_shape(const Attributes& attributes, const Shape& shape, bool are_last) {
    Shape y = with_channels_first(shape, are_last);
    const std::vector<Window> windows = windows_of(attributes, y, kernel_shape(attributes, y));
    for (size_t axis = 0; axis < windows.size(); ++axis) y[axis + 2] = windows[axis].out;
    return with_channels_last(y, are_last);
}

void infer_qlinear_average(InferContext& context) {
    LinearScale::check(context, context.type(0), 1, 2);
    LinearScale::check(context, context.type(0), 3, 4);
    const bool are_last = channels_are_last(context.attributes());
    context.set_output(0, context.type(0), pooled_shape(context.attributes(), context.shape(0), are_last));
}

void qlinear_average_reference(const ReferenceContext& context) {
    const std::vector<double> y = pool_channels_first(
        LinearScale::of(context, 1, 2).dequantized(context.in(0)), context.in(0).shape(), context.out(0).shape(),
        channels_are_last(context.attributes), [&](const std::vector<double>& x, const Shape& shape) {
            return average_windows(context.attributes, shape, x);
        });
    LinearScale::of(context, 3, 4).store(y, context.out(0));
}

void infer_qlinear_global_average(InferContext& context) {
    LinearScale::check(context, context.type(0), 1, 2);
    LinearScale::check(context, context.type(0), 3, 4);
    const bool are_last = channels_are_last(context.attributes());
    Shape y = with_channels_first(context.shape(0), are_last);
    for (size_t axis = 2; axis < y.rank(); ++axis) y[axis] = 1;
    context.set_output(0, context.type(0), with_channels_last(y, are_last));
}

void qlinear_global_average_reference(const ReferenceContext& context) {
    const std::vector<double> y = pool_channels_first(
        LinearScale::of(context, 1, 2).dequantized(context.in(0)), context.in(0).shape(), context.out(0).shape(),
        channels_are_last(context.attributes), [](const std::vector<double>& x, const Shape& shape) {
            const auto plane = static_cast<size_t>(shape.elements(2, shape.rank()));
            std::vector<double> means = zeros(shape[0] * shape[1]);
            for (size_t i = 0; i < x.size(); ++i) means[i / plane] += x[i];
            for (double& mean : means) mean /= static_cast<double>(plane);
            return means;
        });
    LinearScale::of(context, 3, 4).store(y, context.out(0));
}

void infer_nhwc_max_pool(InferContext& context) {
    context.set_output(0, context.type(0), pooled_shape(context.attributes(), context.shape(0), true));
}

void nhwc_max_pool_reference(const ReferenceContext& context) {
    const std::vector<double> y =
        pool_channels_first(doubles_of(context.in(0)), context.in(0).shape(), context.out(0).shape(), true,
                            [&](const std::vector<double>& x, const Shape& shape) {
                                return max_windows(context.attributes, shape, x).values;
                            });
    store_doubles(y, context.out(0));
}

const AttributeDoc channels_last_doc{"channels_last", "int", "0", "1: the channels are the last axis"};

std::vector<AttributeDoc> qlinear_average_attributes() {
    std::vector<AttributeDoc> docs = average_pool_attributes();
    docs.insert(docs.begin(), channels_last_doc);
    return docs;
}

}  // namespace

const Op qlinear_average_pool_op{{
    .name = "QLinearAveragePool",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 5},
    .types = qlinear_pool_types,
    .attributes = qlinear_average_attributes(),
    .infer = infer_qlinear_average,
    .reference = qlinear_average_reference,
    .help = "AveragePool of a quantised tensor, quantised again.",
}};

const Op qlinear_global_average_pool_op{{
    .name = "QLinearGlobalAveragePool",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 5},
    .types = qlinear_pool_types,
    .attributes = {channels_last_doc},
    .infer = infer_qlinear_global_average,
    .reference = qlinear_global_average_reference,
    .help = "GlobalAveragePool of a quantised tensor, quantised again.",
}};

const Op nhwc_max_pool_op{{
    .name = "NhwcMaxPool",
    .domain = "com.microsoft",
    .since = {1},
    .types = qlinear_pool_types,
    .attributes = max_pool_attributes(),
    .infer = infer_nhwc_max_pool,
    .reference = nhwc_max_pool_reference,
    .help = "MaxPool of 8-bit integers with the channels as the last axis.",
}};

}  // namespace headway
