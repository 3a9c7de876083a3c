// A residual sum and its normalisation in one: the operators that ONNX Runtime's transformer optimiser writes.
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/normalization.h"

namespace headway {
namespace {

enum SkipNormOutput : size_t { skip_norm_y, skip_norm_mean, skip_norm_inverse, skip_norm_sum };

// One entry for each element of the last axis.
void check_skip_norm_vector(const InferContext& context, size_t input, const char* name) {
    const Shape& x = context.shape(0);
    if (context.has(input) && context.shape(input) != Shape{x.back()})
        throw UserError("its " + std::string(name) + " of " + context.shape(input).text() +
                        " does not fit an input of " + x.text());
}

void infer_skip_norm(InferContext& context) {
    require_same_types(context);
    const Shape& x = context.shape(0);
    if (x.rank() != 2 && x.rank() != 3) throw UserError("its input of " + x.text() + " has neither rank 2 nor rank 3");
    const Shape& skip = context.shape(1);
    if (broadcast(skip, x) != x || skip.rank() < 2 || skip[skip.rank() - 2] != x[x.rank() - 2] ||
        skip.back() != x.back())
        throw UserError("its skip of " + skip.text() + " does not fit an input of " + x.text());
    check_skip_norm_vector(context, 2, "gamma");
    Shape moments = x;
    moments[x.rank() - 1] = 1;
    context.set_output(skip_norm_y, context.type(0), x);
    context.set_output(skip_norm_mean, ElementType::f32, moments);
    context.set_output(skip_norm_inverse, ElementType::f32, moments);
    context.set_output(skip_norm_sum, context.type(0), x);
}

void infer_skip_layer_norm(InferContext& context) {
    infer_skip_norm(context);
    check_skip_norm_vector(context, 3, "beta");
    check_skip_norm_vector(context, 4, "bias");
}

void infer_skip_rms_norm(InferContext& context) {
    infer_skip_norm(context);
    check_skip_norm_vector(context, 3, "bias");
}

// Entries of input `index` along the last axis; the fallback where it is absent.
std::vector<double> skip_norm_vector(const ReferenceContext& context, size_t index, double fallback) {
    if (context.has(index)) return doubles_of(context.in(index));
    return std::vector<double>(static_cast<size_t>(context.in(0).shape().back()), fallback);
}

std::vector<double> skip_norm_sums(const ReferenceContext& context, const std::vector<double>& bias) {
    std::vector<double> sums = doubles_of(context.in(0));
    const std::vector<double> skip = doubles_of(context.in(1));
    // A skip without a batch axis, or with one image, repeats.
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += skip[i % skip.size()] + bias[i % bias.size()];
    return sums;
}

// `normalized(line)` brings one line of the last axis to its scale and says by which moments.
template <class F>
void skip_norm_reference(const ReferenceContext& context, size_t beta_input, size_t bias_input, F&& normalized) {
    std::vector<double> x = skip_norm_sums(context, skip_norm_vector(context, bias_input, 0));
    if (context.wants(skip_norm_sum)) store_doubles(x, context.out(skip_norm_sum));
    const std::vector<double> gamma = skip_norm_vector(context, 2, 1);
    const std::vector<double> beta = skip_norm_vector(context, beta_input, 0);
    std::vector<double> means;
    std::vector<double> inverses;
    for (size_t first = 0; first < x.size(); first += gamma.size()) {
        const std::span<double> line = std::span(x).subspan(first, gamma.size());
        const Moments moments = normalized(line);
        means.push_back(moments.mean);
        inverses.push_back(moments.inverse_deviation);
        for (size_t i = 0; i < line.size(); ++i) line[i] = line[i] * gamma[i] + beta[i];
    }
    if (context.wants(skip_norm_y)) store_doubles(x, context.out(skip_norm_y));
    // Lines without elements have no moments.
    const auto store_moments = [&](size_t output, std::vector<double>& values) {
        if (!context.wants(output)) return;
        values.resize(static_cast<size_t>(context.out(output).elements()));
        store_doubles(values, context.out(output));
    };
    store_moments(skip_norm_mean, means);
    store_moments(skip_norm_inverse, inverses);
}

double skip_norm_epsilon(const ReferenceContext& context) { return context.attributes.real("epsilon", 1e-12F); }

void skip_layer_norm_reference(const ReferenceContext& context) {
    skip_norm_reference(context, 3, 4, [epsilon = skip_norm_epsilon(context)](std::span<double> line) {
        return normalize(line, epsilon);
    });
}

void skip_rms_norm_reference(const ReferenceContext& context) {
    constexpr size_t no_beta = SIZE_MAX;
    skip_norm_reference(context, no_beta, 3, [epsilon = skip_norm_epsilon(context)](std::span<double> line) {
        return Moments{0, normalize_root_mean_square(line, epsilon)};
    });
}

const AttributeDoc skip_norm_epsilon_doc{"epsilon", "float", "1e-12", "added to the variance or mean square"};

}  // namespace

const Op skip_layer_normalization_op{{
    .name = "SkipLayerNormalization",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {3, 5},
    .outputs = {1, 4},
    .types = float_types,
    .attributes = {skip_norm_epsilon_doc},
    .infer = infer_skip_layer_norm,
    .reference = skip_layer_norm_reference,
    .help = "LayerNormalization over the last axis of input + skip + bias; the fourth output is that sum.",
}};

const Op skip_simplified_layer_normalization_op{{
    .name = "SkipSimplifiedLayerNormalization",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {3, 4},
    .outputs = {1, 4},
    .types = float_types,
    .attributes = {skip_norm_epsilon_doc},
    .infer = infer_skip_rms_norm,
    .reference = skip_rms_norm_reference,
    .help = "RMSNormalization over the last axis of input + skip + bias; the fourth output is that sum.",
}};

}  // namespace headway
