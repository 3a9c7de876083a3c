#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

// NaN stays NaN; where the bounds cross, the upper one wins.
template <class T>
T clipped(T value, const std::optional<T>& low, const std::optional<T>& high) {
    if (is_nan(value)) return value;
    if (low && value < *low) value = *low;
    if (high && value > *high) value = *high;
    return value;
}

template <class E>
std::optional<typename E::Compute> clip_bound(const ReferenceContext& context, size_t index, const char* name) {
    if (context.has(index)) {
        if (context.in(index).elements() != 1) throw UserError(std::string(name) + " must hold one element");
        return E::load(stored<typename E::Storage>(context.in(index))[0]);
    }
    if (!context.attributes.has(name)) return std::nullopt;
    Tensor bound(E::type, Shape{});
    bound.set(0, context.attributes.real(name, 0));  // saturates where the type does not hold it
    return E::load(stored<typename E::Storage>(bound)[0]);
}

void clip_reference(const ReferenceContext& context) {
    visit_number(context.in(0).type(), [&]<class E>(E) {
        const auto low = clip_bound<E>(context, 1, "min");
        const auto high = clip_bound<E>(context, 2, "max");
        apply_unary<E, E>(context.in(0), context.out(0), [&](auto x) { return clipped(x, low, high); });
    });
}

void infer_clip(InferContext& context) {
    require_same_types(context);
    infer_same(context);
}

}  // namespace

const Op clip_op{{
    .name = "Clip",
    .since = {1, 6, 11, 12, 13},
    .inputs = {1, 3},
    .types = number_types,
    .attributes = {{"min", "float", "none", "lower bound (an input from opset 11)"},
                   {"max", "float", "none", "upper bound (an input from opset 11)"}},
    .infer = infer_clip,
    .reference = clip_reference,
    .help = "Each element held between two bounds; NaN stays NaN.",
}};

}  // namespace headway
