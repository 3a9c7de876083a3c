#include <algorithm>
#include <functional>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/strided.h"

namespace headway {
namespace {

enum class Scatter { none, add, mul, max, min };

Scatter scatter_reduction(const Attributes& attributes) {
    const std::string word = attributes.text("reduction", "none");
    if (word == "none") return Scatter::none;
    if (word == "add") return Scatter::add;
    if (word == "mul") return Scatter::mul;
    if (word == "max") return Scatter::max;
    if (word == "min") return Scatter::min;
    throw UserError("attribute reduction has an unknown value");
}

template <class T>
T scattered(T old, T update, Scatter how) {
    switch (how) {
        case Scatter::none:
            return update;
        case Scatter::add:
            return wrapping(old, update, std::plus{});
        case Scatter::mul:
            return wrapping(old, update, std::multiplies{});
        case Scatter::max:
            return update > old || is_nan(update) ? update : old;
        case Scatter::min:
            return update < old || is_nan(update) ? update : old;
    }
    return update;
}

// Calls body with a function put(offset in the output, offset in the updates).
template <class F>
void scatter_into(const ReferenceContext& context, F&& body) {
    copy_reference(context);
    const Scatter how = scatter_reduction(context.attributes);
    visit_element(context.in(0).type(), [&]<class E>(E) {
        auto* y = stored<typename E::Storage>(context.out(0));
        const auto* updates = stored<typename E::Storage>(context.in(2));
        body([=](int64_t to, int64_t from) {
            y[to] = E::store(scattered(E::load(y[to]), E::load(updates[from]), how));
        });
    });
}

void infer_scatter_elements(InferContext& context) {
    const Shape& shape = context.shape(0);
    axis_of(context.attributes(), 0, shape.rank());
    scatter_reduction(context.attributes());
    if (context.type(2) != context.type(0)) throw UserError("its updates have another type than its input");
    if (!index_types.contains(context.type(1))) throw UserError("its indices are neither i32 nor i64");
    if (context.shape(1) != context.shape(2) || context.shape(1).rank() != shape.rank())
        throw UserError("the shapes of its input, indices and updates do not fit");
    const auto axis = static_cast<size_t>(axis_of(context.attributes(), 0, shape.rank()));
    for (size_t i = 0; i < shape.rank(); ++i)
        if (i != axis && context.shape(1)[i] > shape[i]) throw UserError("its indices exceed its input");
    context.set_output(0, context.type(0), shape);
}

// put(offset in the output, offset in the updates) for every update.
template <class Put>
void for_each_scattered_element(const Attributes& attributes, const Shape& shape, const Tensor& table, Put&& put) {
    const auto axis = static_cast<size_t>(axis_of(attributes, 0, shape.rank()));
    const std::vector<int64_t> indices = table.to_int64();
    Strides strides = shape.strides();
    const int64_t stride = strides[axis];
    strides[axis] = 0;
    StridedLoop<2>(table.shape(), {strides, table.shape().strides()})
        .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i) {
                const int64_t from = offsets[1] + i * steps[1];
                put(offsets[0] + i * steps[0] + checked_index(indices[static_cast<size_t>(from)], shape[axis]) * stride,
                    from);
            }
        });
}

void scatter_elements_reference(const ReferenceContext& context) {
    scatter_into(context, [&](auto put) {
        for_each_scattered_element(context.attributes, context.in(0).shape(), context.in(1), put);
    });
}

void infer_scatter_nd(InferContext& context) {
    const Shape& shape = context.shape(0);
    const Shape& indices = context.shape(1);
    scatter_reduction(context.attributes());
    if (context.type(2) != context.type(0)) throw UserError("its updates have another type than its input");
    if (indices.rank() == 0 || context.type(1) != ElementType::i64)
        throw UserError("its indices are a scalar or not i64");
    const int64_t depth = indices.back();
    if (depth < 1 || depth > static_cast<int64_t>(shape.rank()))
        throw UserError("index tuples of " + std::to_string(depth) + " do not fit an input of " + shape.text());
    std::vector<int64_t> dims(indices.begin(), indices.end() - 1);
    dims.insert(dims.end(), shape.begin() + depth, shape.end());
    if (context.shape(2) != Shape(dims)) throw UserError("its updates should have shape " + Shape(dims).text());
    context.set_output(0, context.type(0), shape);
}

template <class Put>
void for_each_scattered_slice(const Shape& shape, const Tensor& tuples, Put&& put) {
    const auto depth = static_cast<size_t>(tuples.shape().back());
    const std::vector<int64_t> indices = tuples.to_int64();
    const int64_t chunk = shape.elements(depth, shape.rank());
    for (size_t tuple = 0; tuple * depth < indices.size(); ++tuple) {
        int64_t offset = 0;
        for (size_t i = 0; i < depth; ++i)
            offset = offset * shape[i] + checked_index(indices[tuple * depth + i], shape[i]);
        for (int64_t i = 0; i < chunk; ++i) put(offset * chunk + i, static_cast<int64_t>(tuple) * chunk + i);
    }
}

void scatter_nd_reference(const ReferenceContext& context) {
    scatter_into(context, [&](auto put) { for_each_scattered_slice(context.in(0).shape(), context.in(1), put); });
}

// Strings know no reduction, so that their ranks would not do: see Op::Fields::types.
std::vector<Datum> scattered_strings(
    const InterpretContext& context, void (*infer)(InferContext&),
    const std::function<void(const Shape&, const Tensor&, const std::function<void(int64_t, int64_t)>&)>& for_each) {
    Strings y = context.strings(0);
    const Tensor& indices = context.tensor(1);
    const Strings& updates = context.strings(2);
    InferContext shapes(context.node, {{true, ElementType::string, y.shape, nullptr},
                                       {true, indices.type(), indices.shape(), nullptr},
                                       {true, ElementType::string, updates.shape, nullptr}});
    infer(shapes);
    if (scatter_reduction(context.attributes()) != Scatter::none) throw UserError("strings know no reduction");
    for_each(y.shape, indices, [&](int64_t to, int64_t from) {
        y.values[static_cast<size_t>(to)] = updates.values[static_cast<size_t>(from)];
    });
    return {std::move(y)};
}

std::vector<Datum> interpret_scatter_elements(const InterpretContext& context) {
    return scattered_strings(context, infer_scatter_elements,
                             [&](const Shape& shape, const Tensor& indices, const auto& put) {
                                 for_each_scattered_element(context.attributes(), shape, indices, put);
                             });
}

std::vector<Datum> interpret_scatter_nd(const InterpretContext& context) {
    return scattered_strings(context, infer_scatter_nd, [](const Shape& shape, const Tensor& indices, const auto& put) {
        for_each_scattered_slice(shape, indices, put);
    });
}

}  // namespace

const Op scatter_elements_op{{
    .name = "ScatterElements",
    .since = {11, 13, 16, 18},
    .inputs = {3, 3},
    .types = fixed_size_types | string_type,
    .attributes = {{"axis", "int", "0", "the axis that the indices select"},
                   {"reduction", "string", "none", "none, add, mul, max or min: how an update meets the old element"}},
    .infer = infer_scatter_elements,
    .reference = scatter_elements_reference,
    .interpret = interpret_scatter_elements,
    .help = "The input with one element changed for each index, which replaces the update's position on one axis.",
}};

const Op scatter_op{{
    .name = "Scatter",
    .since = {9, 11},
    .inputs = {3, 3},
    .types = fixed_size_types | string_type,
    .attributes = {{"axis", "int", "0", "the axis that the indices select"}},
    .infer = infer_scatter_elements,
    .reference = scatter_elements_reference,
    .interpret = interpret_scatter_elements,
    .help = "ScatterElements without a reduction, by its name before opset 11.",
}};

const Op scatter_nd_op{{
    .name = "ScatterND",
    .since = {11, 13, 16, 18},
    .inputs = {3, 3},
    .types = fixed_size_types | string_type,
    .attributes = {{"reduction", "string", "none", "none, add, mul, max or min: how an update meets the old element"}},
    .infer = infer_scatter_nd,
    .reference = scatter_nd_reference,
    .interpret = interpret_scatter_nd,
    .help = "The input with slices changed that are selected by tuples of indices.",
}};

}  // namespace headway
