#include <algorithm>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/rows.h"

namespace headway {
namespace {

void require_index_type(const InferContext& context) {
    if (!index_types.contains(context.type(1))) throw UserError("its indices are neither i32 nor i64");
}

void infer_gather(InferContext& context) {
    require_index_type(context);
    const Shape& shape = context.shape(0);
    const auto axis = axis_of(context.attributes(), 0, shape.rank());
    std::vector<int64_t> dims(shape.begin(), shape.begin() + axis);
    dims.insert(dims.end(), context.shape(1).begin(), context.shape(1).end());
    dims.insert(dims.end(), shape.begin() + axis + 1, shape.end());
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

void gather_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Lines lines = Lines::along(shape, static_cast<size_t>(axis_of(context.attributes, 0, shape.rank())));
    std::vector<int64_t> indices = context.in(1).to_int64();
    for (int64_t& index : indices) index = checked_index(index, lines.length);
    const auto element = static_cast<int64_t>(size_of(context.in(0).type()));
    const std::byte* from = context.in(0).bytes().data();
    std::byte* to = context.out(0).mutable_bytes().data();
    const int64_t chunk = lines.inner * element;
    for (int64_t outer = 0; outer < lines.outer; ++outer)
        for (int64_t index : indices) to = std::copy_n(from + (outer * lines.length + index) * chunk, chunk, to);
}

void infer_gather_elements(InferContext& context) {
    require_index_type(context);
    const Shape& shape = context.shape(0);
    const Shape& indices = context.shape(1);
    const auto axis = static_cast<size_t>(axis_of(context.attributes(), 0, shape.rank()));
    if (indices.rank() != shape.rank()) throw UserError("the ranks of its input and indices differ");
    for (size_t i = 0; i < shape.rank(); ++i)
        if (i != axis && indices[i] > shape[i])
            throw UserError("indices of " + indices.text() + " exceed " + shape.text());
    context.set_output(0, context.type(0), indices);
}

void gather_elements_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const auto axis = static_cast<size_t>(axis_of(context.attributes, 0, shape.rank()));
    const std::vector<int64_t> indices = context.in(1).to_int64();
    Strides strides = shape.strides();
    const int64_t stride = strides[axis];
    strides[axis] = 0;
    const Shape& to = context.out(0).shape();
    visit_size(context.in(0).type(), [&](auto word) {
        using Word = decltype(word);
        const Word* x = stored<Word>(context.in(0));
        Word* y = stored<Word>(context.out(0));
        StridedLoop<2>(to, {strides, to.strides()})
            .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
                for (int64_t i = 0; i < count; ++i) {
                    const int64_t at = offsets[1] + i * steps[1];
                    const int64_t index = checked_index(indices[static_cast<size_t>(at)], shape[axis]);
                    y[at] = x[offsets[0] + i * steps[0] + index * stride];
                }
            });
    });
}

void infer_gather_nd(InferContext& context) {
    const Shape& shape = context.shape(0);
    const Shape& indices = context.shape(1);
    const int64_t batch = context.attributes().integer("batch_dims", 0);
    if (indices.rank() == 0 || batch < 0 || batch >= static_cast<int64_t>(std::min(shape.rank(), indices.rank())))
        throw UserError("its indices are a scalar or batch_dims does not fit");
    if (context.type(1) != ElementType::i64) throw UserError("its indices are not i64");
    const int64_t depth = indices.back();
    if (depth < 1 || batch + depth > static_cast<int64_t>(shape.rank()))
        throw UserError("index tuples of " + std::to_string(depth) + " do not fit an input of " + shape.text());
    for (int64_t i = 0; i < batch; ++i)
        if (shape[static_cast<size_t>(i)] != indices[static_cast<size_t>(i)]) throw UserError("the batch axes differ");
    std::vector<int64_t> dims(indices.begin(), indices.end() - 1);
    dims.insert(dims.end(), shape.begin() + batch + depth, shape.end());
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

void gather_nd_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const Shape& table = context.in(1).shape();
    const auto batch = static_cast<size_t>(context.attributes.integer("batch_dims", 0));
    const auto depth = static_cast<size_t>(table.back());
    const std::vector<int64_t> indices = context.in(1).to_int64();
    const int64_t tuples_per_batch = table.elements(batch, table.rank() - 1);
    const int64_t per_batch = shape.elements(batch, shape.rank());
    const int64_t chunk = shape.elements(batch + depth, shape.rank());
    const auto element = static_cast<int64_t>(size_of(context.in(0).type()));
    const std::byte* from = context.in(0).bytes().data();
    std::byte* to = context.out(0).mutable_bytes().data();
    for (size_t tuple = 0; tuple * depth < indices.size(); ++tuple) {
        int64_t offset = 0;
        for (size_t i = 0; i < depth; ++i)
            offset = offset * shape[batch + i] + checked_index(indices[tuple * depth + i], shape[batch + i]);
        const int64_t image = static_cast<int64_t>(tuple) / tuples_per_batch;
        to = std::copy_n(from + (image * per_batch + offset * chunk) * element, chunk * element, to);
    }
}

}  // namespace

const Op gather_op{{
    .name = "Gather",
    .since = {1, 11, 13},
    .inputs = {2, 2},
    .types = any_types,
    .attributes = {{"axis", "int", "0", "the axis that the indices select from"}},
    .infer = infer_gather,
    .reference = gather_reference,
    .data_movement = true,
    .help = "Slices of one axis, in the order of the indices; negative ones count from the end.",
}};

const Op gather_elements_op{{
    .name = "GatherElements",
    .since = {11, 13},
    .inputs = {2, 2},
    .types = any_types,
    .attributes = {{"axis", "int", "0", "the axis that the indices select from"}},
    .infer = infer_gather_elements,
    .reference = gather_elements_reference,
    .data_movement = true,
    .help = "One element for each index, which replaces the element's position on one axis.",
}};

const Op gather_nd_op{{
    .name = "GatherND",
    .since = {11, 12, 13},
    .inputs = {2, 2},
    .types = any_types,
    .attributes = {{"batch_dims", "int", "0", "leading axes that input and indices share (opset 12)"}},
    .infer = infer_gather_nd,
    .reference = gather_nd_reference,
    .data_movement = true,
    .help = "Slices selected by tuples of indices.",
}};

}  // namespace headway
