#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "ops/recurrent.h"

namespace headway {
namespace {

// ONNX's defaults for the activations that take parameters.
struct ActivationParameters {
    double alpha, beta;
};

ActivationParameters default_parameters(const std::string& name) {
    if (name == "hardsigmoid") return {0.2, 0.5};
    if (name == "leakyrelu") return {0.01, 0};
    if (name == "affine" || name == "elu" || name == "thresholdedrelu") return {1, 0};
    return {1, 1};
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<std::string> activation_names(const Attributes& attributes) {
    const AttributeValue* value = attributes.find("activations");
    if (value == nullptr) return {};
    const auto* names = std::get_if<std::vector<std::string>>(value);
    if (names == nullptr) throw UserError("attribute activations has the wrong type");
    return *names;
}

}  // namespace

Activation activation_of(std::string name, std::optional<double> given_alpha, std::optional<double> given_beta) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const ActivationParameters fallback = default_parameters(name);
    const double alpha = given_alpha.value_or(fallback.alpha);
    const double beta = given_beta.value_or(fallback.beta);
    if (name == "sigmoid") return sigmoid_of;
    if (name == "tanh") return [](double x) { return std::tanh(x); };
    if (name == "relu") return [](double x) { return x < 0 ? 0 : x; };
    if (name == "affine") return [=](double x) { return alpha * x + beta; };
    if (name == "leakyrelu") return [=](double x) { return x < 0 ? alpha * x : x; };
    if (name == "thresholdedrelu") return [=](double x) { return x < alpha ? 0 : x; };
    if (name == "scaledtanh") return [=](double x) { return alpha * std::tanh(beta * x); };
    if (name == "hardsigmoid") return [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); };
    if (name == "elu") return [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
    if (name == "softsign") return [](double x) { return x / (1 + std::fabs(x)); };
    if (name == "softplus") return [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); };
    throw UserError("an activation has an unknown name");
}

std::vector<Activation> recurrent_activations(const Attributes& attributes, int64_t direction, int64_t directions,
                                              const std::vector<std::string>& defaults) {
    std::vector<std::string> names = activation_names(attributes);
    if (names.empty())
        for (int64_t i = 0; i < directions; ++i) names.insert(names.end(), defaults.begin(), defaults.end());
    if (names.size() != defaults.size() * static_cast<size_t>(directions))
        throw UserError("attribute activations has " + std::to_string(names.size()) + " entries");
    const std::vector<float> alphas = attributes.reals("activation_alpha");
    const std::vector<float> betas = attributes.reals("activation_beta");
    std::vector<Activation> activations;
    for (size_t i = 0; i < defaults.size(); ++i) {
        const size_t k = static_cast<size_t>(direction) * defaults.size() + i;
        const auto entry = [k](const std::vector<float>& values) {
            return k < values.size() ? std::optional<double>(values[k]) : std::nullopt;
        };
        activations.push_back(activation_of(names[k], entry(alphas), entry(betas)));
    }
    return activations;
}

double clip_of(const Attributes& attributes) {
    return attributes.has("clip") ? attributes.real("clip", 0) : std::numeric_limits<double>::infinity();
}

double clipped(double value, double clip) { return value < -clip ? -clip : value > clip ? clip : value; }

std::vector<AttributeDoc> recurrent_attributes() {
    return {{"activation_alpha", "floats", "", "first parameter of each activation"},
            {"activation_beta", "floats", "", "second parameter of each activation"},
            {"activations", "strings", "", "activations of each direction in turn"},
            {"clip", "float", "none", "limit of the activations' inputs"},
            {"direction", "string", "forward", "forward, reverse or bidirectional"},
            {"hidden_size", "int", "from the weights", "number of hidden values"},
            {"layout", "int", "0", "1: the batch is the first axis (opset 14)"}};
}

}  // namespace headway
