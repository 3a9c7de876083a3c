// Shape rules and references of the elementwise operators, each given a function of one or two elements.
#pragma once

#include <string>
#include <vector>

#include "ops/element.h"
#include "ops/op.h"
#include "ops/strided.h"

namespace headway {

// Output 0 has the type and shape of input 0.
void infer_same(InferContext& context);
// Output 0 has the common type of all inputs and their broadcast shape.
void infer_broadcast(InferContext& context);
// As infer_broadcast, but the output is boolean.
void infer_broadcast_boolean(InferContext& context);
// Output 0 is boolean and has the shape of input 0.
void infer_boolean(InferContext& context);
// All inputs share one type, else UserError.
void require_same_types(const InferContext& context);

template <class In, class Out, class F>
void apply_unary(const Tensor& x, Tensor& y, F&& f) {
    const auto* from = stored<typename In::Storage>(x);
    auto* to = stored<typename Out::Storage>(y);
    const int64_t count = x.elements();
    for (int64_t i = 0; i < count; ++i) to[i] = Out::store(f(In::load(from[i])));
}

template <class In, class Out, class F>
void apply_binary(const Tensor& a, const Tensor& b, Tensor& y, F&& f) {
    const StridedLoop<3> loop(y.shape(), {broadcast_strides(a.shape(), y.shape()),
                                          broadcast_strides(b.shape(), y.shape()), y.shape().strides()});
    const auto* left = stored<typename In::Storage>(a);
    const auto* right = stored<typename In::Storage>(b);
    auto* to = stored<typename Out::Storage>(y);
    loop.for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
        for (int64_t i = 0; i < count; ++i)
            to[offsets[2] + i * steps[2]] =
                Out::store(f(In::load(left[offsets[0] + i * steps[0]]), In::load(right[offsets[1] + i * steps[1]])));
    });
}

// References on floating-point types; f(double) -> double.
template <class F>
std::function<void(const ReferenceContext&)> unary_float(F f) {
    return [f](const ReferenceContext& context) {
        visit_float(context.in(0).type(), [&]<class E>(E) { apply_unary<E, E>(context.in(0), context.out(0), f); });
    };
}

// As unary_float, with the attributes read once: make(attributes) -> f(double) -> double.
template <class Make>
std::function<void(const ReferenceContext&)> unary_float_with(Make make) {
    return [make](const ReferenceContext& context) {
        const auto f = make(context.attributes);
        visit_float(context.in(0).type(), [&]<class E>(E) { apply_unary<E, E>(context.in(0), context.out(0), f); });
    };
}

// References on all numbers; f is generic over double, int64_t and uint64_t.
template <class F>
std::function<void(const ReferenceContext&)> unary_number(F f) {
    return [f](const ReferenceContext& context) {
        visit_number(context.in(0).type(), [&]<class E>(E) { apply_unary<E, E>(context.in(0), context.out(0), f); });
    };
}

template <class F>
std::function<void(const ReferenceContext&)> binary_number(F f) {
    return [f](const ReferenceContext& context) {
        visit_number(context.in(0).type(),
                     [&]<class E>(E) { apply_binary<E, E>(context.in(0), context.in(1), context.out(0), f); });
    };
}

// Comparisons: f(x, y) -> bool on numbers and booleans.
template <class F>
std::function<void(const ReferenceContext&)> comparison(F f) {
    return [f](const ReferenceContext& context) {
        visit_element(context.in(0).type(), [&]<class E>(E) {
            apply_binary<E, BooleanElement>(context.in(0), context.in(1), context.out(0), f);
        });
    };
}

// f(bool-like, bool-like) -> bool-like on boolean tensors.
template <class F>
std::function<void(const ReferenceContext&)> logical(F f) {
    return [f](const ReferenceContext& context) {
        apply_binary<BooleanElement, BooleanElement>(context.in(0), context.in(1), context.out(0), f);
    };
}

// Any number of inputs folded from the left: y = f(f(a, b), c); finish(value, inputs) at the end.
template <class E, class F, class Finish>
void fold_inputs(const ReferenceContext& context, F&& f, Finish&& finish) {
    using Compute = typename E::Compute;
    Tensor& y = context.out(0);
    const Strides own = y.shape().strides();
    std::vector<Compute> folded(static_cast<size_t>(y.elements()));
    for (size_t k = 0; k < context.inputs.size(); ++k) {
        const Tensor& x = context.in(k);
        const auto* from = stored<typename E::Storage>(x);
        StridedLoop<2>(y.shape(), {broadcast_strides(x.shape(), y.shape()), own})
            .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
                for (int64_t i = 0; i < count; ++i) {
                    const Compute value = E::load(from[offsets[0] + i * steps[0]]);
                    Compute& slot = folded[static_cast<size_t>(offsets[1] + i * steps[1])];
                    slot = k == 0 ? value : f(slot, value);
                }
            });
    }
    auto* to = stored<typename E::Storage>(y);
    for (size_t i = 0; i < folded.size(); ++i)
        to[i] = E::store(finish(folded[i], static_cast<Compute>(context.inputs.size())));
}

template <class F>
std::function<void(const ReferenceContext&)> variadic_number(F f) {
    return [f](const ReferenceContext& context) {
        visit_number(context.in(0).type(),
                     [&]<class E>(E) { fold_inputs<E>(context, f, [](auto value, auto) { return value; }); });
    };
}

}  // namespace headway
