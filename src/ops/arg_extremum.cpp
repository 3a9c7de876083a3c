#include <functional>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/rows.h"

namespace headway {
namespace {

void infer_arg_extremum(InferContext& context) {
    Shape shape = context.shape(0);
    const auto axis = axis_of(context.attributes(), 0, shape.rank());
    if (shape[static_cast<size_t>(axis)] == 0) throw UserError("there is no extremum along an empty axis");
    shape[static_cast<size_t>(axis)] = 1;
    std::vector<int64_t> dims = shape.dims();
    if (context.attributes().integer("keepdims", 1) == 0) dims.erase(dims.begin() + axis);
    context.set_output(0, ElementType::i64, Shape(std::move(dims)));
}

// better(x, best) says whether x is on the wanted side; the first NaN wins.
template <class Better>
std::function<void(const ReferenceContext&)> arg_extremum(Better better) {
    return [better](const ReferenceContext& context) {
        const Shape& shape = context.in(0).shape();
        const Lines lines = Lines::along(shape, static_cast<size_t>(axis_of(context.attributes, 0, shape.rank())));
        const bool last = context.attributes.integer("select_last_index", 0) != 0;
        int64_t* y = context.out(0).mutable_data<int64_t>().data();
        visit_number(context.in(0).type(), [&]<class E>(E) {
            const auto* x = stored<typename E::Storage>(context.in(0));
            lines.for_each([&](int64_t first) {
                int64_t where = 0;
                auto best = E::load(x[first]);
                for (int64_t i = 1; i < lines.length && !is_nan(best); ++i) {
                    const auto value = E::load(x[first + i * lines.inner]);
                    if (!better(value, best) && !is_nan(value) && !(last && value == best)) continue;
                    where = i;
                    best = value;
                }
                *y++ = where;
            });
        });
    };
}

std::vector<AttributeDoc> arg_extremum_attributes() {
    return {{"axis", "int", "0", "the axis along which to look"},
            {"keepdims", "int", "1", "1: the axis stays with extent 1"},
            {"select_last_index", "int", "0", "1: of equal elements the last (opset 12)"}};
}

}  // namespace

const Op arg_max_op{{
    .name = "ArgMax",
    .since = {1, 11, 12, 13},
    .types = number_types,
    .attributes = arg_extremum_attributes(),
    .infer = infer_arg_extremum,
    .reference = arg_extremum([](auto x, auto best) { return x > best; }),
    .help = "Position of the largest element along an axis; the first NaN counts as largest.",
}};

const Op arg_min_op{{
    .name = "ArgMin",
    .since = {1, 11, 12, 13},
    .types = number_types,
    .attributes = arg_extremum_attributes(),
    .infer = infer_arg_extremum,
    .reference = arg_extremum([](auto x, auto best) { return x < best; }),
    .help = "Position of the smallest element along an axis; the first NaN counts as smallest.",
}};

}  // namespace headway
