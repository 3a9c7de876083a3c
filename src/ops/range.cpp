#include <algorithm>
#include <cmath>
#include <functional>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

template <class E>
typename E::Compute range_operand(const Tensor& tensor) {
    scalar_of(tensor, "an operand");
    return E::load(stored<typename E::Storage>(tensor)[0]);
}

template <class T>
int64_t range_count(T start, T limit, T delta) {
    if (delta == T{0}) throw UserError("its delta is 0");
    const double count =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    constexpr double most = 1e12;
    if (!(count <= most)) throw UserError("its range is too long");
    return static_cast<int64_t>(std::max(count, 0.0));
}

void infer_range(InferContext& context) {
    require_same_types(context);
    const Tensor& start = context.required(0, "start");
    const Tensor& limit = context.required(1, "limit");
    const Tensor& delta = context.required(2, "delta");
    visit_number(context.type(0), [&]<class E>(E) {
        const int64_t count = range_count(range_operand<E>(start), range_operand<E>(limit), range_operand<E>(delta));
        context.set_output(0, E::type, Shape{count});
    });
}

void range_reference(const ReferenceContext& context) {
    Tensor& y = context.out(0);
    visit_number(y.type(), [&]<class E>(E) {
        using T = typename E::Compute;
        const T start = range_operand<E>(context.in(0));
        const T delta = range_operand<E>(context.in(2));
        auto* to = stored<typename E::Storage>(y);
        for (int64_t i = 0; i < y.elements(); ++i)
            to[i] = E::store(wrapping(start, wrapping(static_cast<T>(i), delta, std::multiplies{}), std::plus{}));
    });
}

}  // namespace

const Op range_op{{
    .name = "Range",
    .since = {11},
    .inputs = {3, 3},
    .types = number_types,
    .infer = infer_range,
    .reference = range_reference,
    .help = "start, start + delta, ... up to limit, which is not reached.",
}};

}  // namespace headway
