// Reductions over axes, each given a start value, a step and a finish; and the shape rules they share.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/strided.h"

namespace headway {

// Output 0 has the type of input 0 and its shape without the reduced axes.
void infer_reduce(InferContext& context);
const std::vector<AttributeDoc>& reduce_attributes();
const std::vector<int>& reduce_versions();

// Which axes a reduction removes: all without axes, none with noop_with_empty_axes.
template <class Context>
std::vector<bool> reduced_axes(const Context& context, const Attributes& attributes, size_t rank) {
    const std::vector<int64_t> axes = integers_of(context, 1, "axes").value_or(std::vector<int64_t>{});
    if (axes.empty()) return std::vector<bool>(rank, attributes.integer("noop_with_empty_axes", 0) == 0);
    return axis_flags(normalized_axes(axes, rank), rank);
}

// Strides of the outputs along every axis of the input: 0 along the reduced ones.
Strides reduced_strides(const Shape& shape, const std::vector<bool>& reduced);

// values[k] = step(values[k], element) over the elements that fall on output k; all start as `start`.
template <class E, class V, class F>
std::vector<V> reduce_elements(const Tensor& x, const std::vector<bool>& reduced, int64_t outputs, V start, F&& step) {
    std::vector<V> values(static_cast<size_t>(outputs), start);
    const auto* from = stored<typename E::Storage>(x);
    const Shape& shape = x.shape();
    StridedLoop<2>(shape, {shape.strides(), reduced_strides(shape, reduced)})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i) {
                V& value = values[static_cast<size_t>(offsets[1] + i * steps[1])];
                value = step(value, E::load(from[offsets[0] + i * steps[0]]));
            }
        });
    return values;
}

template <class E, class V, class F>
void finish_reduction(const std::vector<V>& values, Tensor& y, F&& finish) {
    auto* to = stored<typename E::Storage>(y);
    for (size_t i = 0; i < values.size(); ++i) to[i] = E::store(finish(values[i]));
}

// step and finish are generic over double, int64_t and uint64_t; finish(value, elements per output).
template <class Step, class Finish>
std::function<void(const ReferenceContext&)> reduction(int start, Step step, Finish finish) {
    return [=](const ReferenceContext& context) {
        const Tensor& x = context.in(0);
        Tensor& y = context.out(0);
        const std::vector<bool> reduced = reduced_axes(context, context.attributes, x.shape().rank());
        visit_number(x.type(), [&]<class E>(E) {
            using V = typename E::Compute;
            const auto values = reduce_elements<E, V>(x, reduced, y.elements(), static_cast<V>(start), step);
            const int64_t each = y.elements() > 0 ? x.elements() / y.elements() : 0;
            finish_reduction<E>(values, y, [&](V value) { return finish(value, static_cast<V>(each)); });
        });
    };
}

struct KeepValue {
    template <class V>
    V operator()(V value, V) const {
        return value;
    }
};

}  // namespace headway
