#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"

namespace headway {
namespace {

int64_t mel_count(const Tensor& tensor, const char* name) {
    scalar_of(tensor, name);
    const int64_t count = tensor.to_int64()[0];
    constexpr int64_t limit = int64_t{1} << 30;
    if (count < 1 || count > limit) throw UserError(std::string(name) + " is out of range");
    return count;
}

void infer_mel_weight_matrix(InferContext& context) {
    for (size_t i = 1; i < 3; ++i)
        if (!index_types.contains(context.type(i))) throw UserError("its counts are neither i32 nor i64");
    for (size_t i = 3; i < 5; ++i)
        if (!float_types.contains(context.type(i))) throw UserError("its edges are not floating point");
    const int64_t bands = mel_count(context.required(0, "num_mel_bins"), "num_mel_bins");
    const int64_t length = mel_count(context.required(1, "dft_length"), "dft_length");
    context.set_output(0, type_of(context.attributes(), "output_datatype", ElementType::f32, number_types),
                       Shape{length / 2 + 1, bands});
}

// The bins of the spectrum where the triangles begin, peak and end: evenly spaced on the mel scale, 2595 log10(1 + f /
// 700), in steps of the whole range over two more than the bands, as ONNX's reference has it.
std::vector<int64_t> mel_corners(const ReferenceContext& context, int64_t bands, int64_t bins) {
    const auto length = static_cast<double>(mel_count(context.in(1), "dft_length"));
    const auto rate = static_cast<double>(mel_count(context.in(2), "sample_rate"));
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = mel(scalar_of(context.in(3), "lower_edge_hertz"));
    const double high = mel(scalar_of(context.in(4), "upper_edge_hertz"));
    std::vector<int64_t> corners;
    for (int64_t i = 0; i < bands + 2; ++i) {
        const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
        const double hertz = 700 * (std::pow(10, at / 2595) - 1);
        const double bin = std::floor((length + 1) * hertz / rate);
        if (!(bin >= 0 && bin < static_cast<double>(bins)))
            throw UserError("its edges reach beyond the bins of the transform");
        corners.push_back(static_cast<int64_t>(bin));
        if (i > 0 && corners[static_cast<size_t>(i)] < corners[static_cast<size_t>(i) - 1])
            throw UserError("its upper edge lies below the lower one");
    }
    return corners;
}

void mel_weight_matrix_reference(const ReferenceContext& context) {
    const int64_t bins = context.out(0).shape()[0];
    const int64_t bands = context.out(0).shape()[1];
    const std::vector<int64_t> corners = mel_corners(context, bands, bins);
    std::vector<double> y = zeros(bins * bands);
    for (int64_t band = 0; band < bands; ++band) {
        const int64_t begin = corners[static_cast<size_t>(band)];
        const int64_t peak = corners[static_cast<size_t>(band) + 1];
        const int64_t end = corners[static_cast<size_t>(band) + 2];
        const auto at = [&](int64_t bin) -> double& { return y[static_cast<size_t>(bin * bands + band)]; };
        for (int64_t bin = begin; bin < peak; ++bin)
            at(bin) = static_cast<double>(bin - begin) / static_cast<double>(peak - begin);
        at(peak) = 1;
        for (int64_t bin = peak + 1; bin < end; ++bin)
            at(bin) = static_cast<double>(end - bin) / static_cast<double>(end - peak);
    }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op mel_weight_matrix_op{{
    .name = "MelWeightMatrix",
    .since = {17},
    .inputs = {5, 5},
    .types = index_types,
    .attributes = {{"output_datatype", "int", "1", "element type of the output"}},
    .infer = infer_mel_weight_matrix,
    .reference = mel_weight_matrix_reference,
    .help = "Weights that turn the bins of a one-sided transform into bands of the mel scale: overlapping triangles.",
}};

}  // namespace headway
