#include <algorithm>
#include <numeric>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/rows.h"

namespace headway {
namespace {

void infer_top_k(InferContext& context) {
    Shape shape = context.shape(0);
    const auto axis = static_cast<size_t>(axis_of(context.attributes(), -1, shape.rank()));
    int64_t count = context.attributes().integer("k", -1);
    if (context.has(1)) {
        const std::vector<int64_t> k = context.required_integers(1, "k");
        require_length(k, 1, "k");
        count = k[0];
    }
    if (count < 0 || count > shape[axis])
        throw UserError("k is " + std::to_string(count) + " on an axis of " + std::to_string(shape[axis]));
    shape[axis] = count;
    context.set_output(0, context.type(0), shape);
    context.set_output(1, ElementType::i64, shape);
}

// NaN counts as larger than any number; of equal elements the one with the lower index comes first.
template <class T>
bool comes_before(T a, T b, bool largest) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) != is_nan(b) && is_nan(largest ? a : b);
    return largest ? a > b : a < b;
}

void top_k_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const auto axis = static_cast<size_t>(axis_of(context.attributes, -1, shape.rank()));
    const Lines lines = Lines::along(shape, axis);
    const bool largest = context.attributes.integer("largest", 1) != 0;
    const Tensor& any = context.wants(0) ? context.out(0) : context.out(1);
    const int64_t count = any.shape()[axis];
    visit_number(context.in(0).type(), [&]<class E>(E) {
        const auto* x = stored<typename E::Storage>(context.in(0));
        auto* values = context.wants(0) ? stored<typename E::Storage>(context.out(0)) : nullptr;
        int64_t* indices = context.wants(1) ? context.out(1).mutable_data<int64_t>().data() : nullptr;
        using Number = decltype(E::load(x[0]));
        std::vector<Number> line(static_cast<size_t>(lines.length));
        std::vector<int64_t> order(static_cast<size_t>(lines.length));
        const auto before = [&](int64_t a, int64_t b) {
            const Number first = line[static_cast<size_t>(a)], second = line[static_cast<size_t>(b)];
            if (comes_before(first, second, largest)) return true;
            return !comes_before(second, first, largest) && a < b;
        };
        lines.for_each([&](int64_t first) {
            for (int64_t i = 0; i < lines.length; ++i)
                line[static_cast<size_t>(i)] = E::load(x[first + i * lines.inner]);
            std::iota(order.begin(), order.end(), 0);
            const auto middle = order.begin() + count;
            if (count < lines.length) std::nth_element(order.begin(), middle, order.end(), before);
            std::sort(order.begin(), middle, before);
            const int64_t outer = first / std::max<int64_t>(lines.length * lines.inner, 1);
            const int64_t to = outer * count * lines.inner + first % lines.inner;
            for (int64_t i = 0; i < count; ++i) {
                const int64_t from = order[static_cast<size_t>(i)];
                if (values != nullptr) values[to + i * lines.inner] = x[first + from * lines.inner];
                if (indices != nullptr) indices[to + i * lines.inner] = from;
            }
        });
    });
}

}  // namespace

const Op top_k_op{{
    .name = "TopK",
    .since = {1, 10, 11, 24},
    .inputs = {1, 2},
    .outputs = {1, 2},
    .types = number_types,
    .attributes = {{"axis", "int", "-1", "the axis to sort"},
                   {"k", "int", "", "how many to keep (an input from opset 10)"},
                   {"largest", "int", "1", "1: the largest, 0: the smallest"},
                   {"sorted", "int", "1", "not read: the result is always sorted"}},
    .infer = infer_top_k,
    .reference = top_k_reference,
    .help = "The k largest or smallest elements along an axis, sorted, and where they stood. NaN is largest; equal "
            "elements "
            "keep their order.",
}};

}  // namespace headway
