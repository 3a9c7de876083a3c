#include "ops/elementwise.h"
#include "ops/gelu.h"

namespace headway {
namespace {

// A bias, where there is one, has an entry for each element of the last axis.
void infer_biased_gelu(InferContext& context) {
    require_same_types(context);
    const Shape& x = context.shape(0);
    if (context.has(1) && (x.rank() == 0 || context.shape(1) != Shape{x.back()}))
        throw UserError("a bias of " + context.shape(1).text() + " does not fit an input of " + x.text());
    infer_same(context);
}

template <class F>
std::function<void(const ReferenceContext&)> biased_gelu(F f) {
    return [f](const ReferenceContext& context) {
        visit_float(context.in(0).type(), [&]<class E>(E) {
            if (!context.has(1)) return apply_unary<E, E>(context.in(0), context.out(0), f);
            apply_binary<E, E>(context.in(0), context.in(1), context.out(0),
                               [&](double x, double bias) { return f(x + bias); });
        });
    };
}

auto make_quick_gelu(const Attributes& attributes) {
    return [alpha = static_cast<double>(attributes.real("alpha", 1.702F))](double x) {
        return x / (1 + std::exp(-alpha * x));
    };
}

}  // namespace

const Op microsoft_gelu_op{{
    .name = "Gelu",
    .domain = "com.microsoft",
    .since = {1},
    .types = float_types,
    .infer = infer_same,
    .reference = unary_float(gelu_by_erf),
    .help = "Gaussian error linear unit, 0.5 * x * (1 + erf(x / sqrt(2))).",
}};

const Op bias_gelu_op{{
    .name = "BiasGelu",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 2},
    .types = float_types,
    .infer = infer_biased_gelu,
    .reference = biased_gelu(gelu_by_erf),
    .help = "Gelu of the input plus a bias along the last axis.",
}};

const Op fast_gelu_op{{
    .name = "FastGelu",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {1, 2},
    .types = float_types,
    .infer = infer_biased_gelu,
    .reference = biased_gelu(gelu_by_tanh),
    .help = "Gelu by its tanh approximation, of the input plus an optional bias along the last axis.",
}};

const Op quick_gelu_op{{
    .name = "QuickGelu",
    .domain = "com.microsoft",
    .since = {1},
    .types = float_types,
    .attributes = {{"alpha", "float", "1.702", "steepness of the sigmoid"}},
    .infer = infer_same,
    .reference = unary_float_with(make_quick_gelu),
    .help = "x * sigmoid(alpha * x).",
}};

}  // namespace headway
