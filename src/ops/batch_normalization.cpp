#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/first_forms.h"

namespace headway {
namespace {

bool batch_norm_trains(const Attributes& attributes, int version) {
    return version >= 14 && attributes.integer("training_mode", 0) != 0;
}

void infer_batch_norm(InferContext& context) {
    const Shape& x = context.shape(0);
    if (x.rank() < 2) throw UserError("its input has rank " + std::to_string(x.rank()) + ", less than 2");
    const bool per_element = has_statistics_per_element(context.attributes(), context.version());
    const Shape statistics = per_element ? Shape(std::vector<int64_t>(x.begin() + 1, x.end())) : Shape{x[1]};
    for (size_t i = 1; i < 5; ++i)
        if (context.shape(i) != statistics)
            throw UserError("its scale, bias, mean or variance does not have one entry per " +
                            std::string(per_element ? "element of an image" : "channel"));
    if (context.version() < 7 && context.attributes().integer("is_test", 0) == 0)
        throw Unsupported("training (is_test = 0) is not supported before opset 14");
    if (context.output_count() > 1 && !batch_norm_trains(context.attributes(), context.version()))
        throw Unsupported("its training outputs are only supported with training_mode (opset 14)");
    context.set_output(0, context.type(0), x);
    context.set_output(1, context.type(3), Shape{x[1]});
    context.set_output(2, context.type(4), Shape{x[1]});
}

struct ChannelView {
    int64_t images, channels, plane;

    template <class F>
    void for_each(int64_t channel, F&& visit) const {
        for (int64_t image = 0; image < images; ++image)
            for (int64_t i = 0; i < plane; ++i) visit(static_cast<size_t>((image * channels + channel) * plane + i));
    }
};

// Replaces mean and variance by those of the batch, and stores the running ones.
void take_batch_statistics(const ReferenceContext& context, const std::vector<double>& x, const ChannelView& view,
                           std::vector<double>& mean, std::vector<double>& variance) {
    const double momentum = context.attributes.real("momentum", 0.9F);
    const auto count = static_cast<double>(view.images * view.plane);
    std::vector<double> running_mean = mean;
    std::vector<double> running_variance = variance;
    for (int64_t channel = 0; channel < view.channels; ++channel) {
        const auto c = static_cast<size_t>(channel);
        double sum = 0;
        double squares = 0;
        view.for_each(channel, [&](size_t i) { sum += x[i]; });
        mean[c] = sum / count;
        view.for_each(channel, [&](size_t i) { squares += (x[i] - mean[c]) * (x[i] - mean[c]); });
        variance[c] = squares / count;
        running_mean[c] = running_mean[c] * momentum + mean[c] * (1 - momentum);
        running_variance[c] = running_variance[c] * momentum + variance[c] * (1 - momentum);
    }
    if (context.wants(1)) store_doubles(running_mean, context.out(1));
    if (context.wants(2)) store_doubles(running_variance, context.out(2));
}

void batch_norm_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const ChannelView view = has_statistics_per_element(context.attributes, context.version)
                                 ? ChannelView{shape[0], shape.elements(1, shape.rank()), 1}
                                 : ChannelView{shape[0], shape[1], shape.elements(2, shape.rank())};
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> scale = doubles_of(context.in(1));
    const std::vector<double> bias = doubles_of(context.in(2));
    std::vector<double> mean = doubles_of(context.in(3));
    std::vector<double> variance = doubles_of(context.in(4));
    if (batch_norm_trains(context.attributes, context.version)) take_batch_statistics(context, x, view, mean, variance);
    const double epsilon = context.attributes.real("epsilon", 1e-5F);
    for (int64_t channel = 0; channel < view.channels; ++channel) {
        const auto c = static_cast<size_t>(channel);
        const double factor = scale[c] / std::sqrt(variance[c] + epsilon);
        view.for_each(channel, [&](size_t i) { x[i] = (x[i] - mean[c]) * factor + bias[c]; });
    }
    if (context.wants(0)) store_doubles(x, context.out(0));
}

}  // namespace

const Op batch_normalization_op{{
    .name = "BatchNormalization",
    .since = {1, 6, 7, 9, 14, 15},
    .inputs = {5, 5},
    .outputs = {1, 5},
    .types = float_types,
    .attributes = {{"epsilon", "float", "1e-05", "added to the variance"},
                   {"is_test", "int", "0", "1: inference, which alone is supported (before opset 7)"},
                   {"momentum", "float", "0.9", "share of the old running statistics (training)"},
                   {"training_mode", "int", "0", "1: statistics of the batch (opset 14)"},
                   {"spatial", "int", "1",
                    "1: one statistic per channel, 0: per element of an image (before opset 9)"}},
    .infer = infer_batch_norm,
    .reference = batch_norm_reference,
    .help = "(x - mean) / sqrt(variance + epsilon) * scale + bias for each channel.",
}};

}  // namespace headway
