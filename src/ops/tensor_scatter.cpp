#include <algorithm>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

bool is_circular(const Attributes& attributes) {
    const std::string mode = attributes.text("mode", "linear");
    if (mode != "linear" && mode != "circular")
        throw UserError("attribute mode is neither \"linear\" nor \"circular\"");
    return mode == "circular";
}

void infer_tensor_scatter(InferContext& context) {
    is_circular(context.attributes());
    if (context.type(1) != context.type(0)) throw UserError("its update has another type than its cache");
    Shape shape = context.shape(0);
    const int64_t axis = axis_of(context.attributes(), -2, shape.rank());
    if (axis == 0) throw UserError("axis 0 is that of the batch");
    const Shape& update = context.shape(1);
    const auto at = static_cast<size_t>(axis);
    const int64_t places = shape[at];
    if (update.rank() == shape.rank()) shape[at] = update[at];
    if (update != shape || shape[at] > places)
        throw UserError("its update of " + update.text() + " does not fit a cache of " + context.shape(0).text());
    if (context.has(2) && (context.shape(2) != Shape{shape[0]} || context.type(2) != ElementType::i64))
        throw UserError("its write_indices should hold " + std::to_string(shape[0]) + " i64");
    infer_same(context);
}

// The place of the first slice of an image's update.
int64_t first_place(int64_t index, int64_t places, int64_t slices, bool circular) {
    if (circular && places > 0) return (index % places + places) % places;
    if (index < 0 || index > places - slices)
        throw UserError("write index " + std::to_string(index) + " leaves no room for " + std::to_string(slices) +
                        " in " + std::to_string(places));
    return index;
}

void tensor_scatter_reference(const ReferenceContext& context) {
    copy_reference(context);
    const Shape& shape = context.in(0).shape();
    const auto axis = static_cast<size_t>(axis_of(context.attributes, -2, shape.rank()));
    const int64_t places = shape[axis];
    const int64_t slices = context.in(1).shape()[axis];
    const int64_t per_image = shape.elements(1, axis);
    const int64_t inner = shape.elements(axis + 1, shape.rank());
    const bool circular = is_circular(context.attributes);
    const std::vector<int64_t> indices =
        context.has(2) ? context.in(2).to_int64() : std::vector<int64_t>(static_cast<size_t>(shape[0]), 0);
    visit_size(context.in(0).type(), [&](auto word) {
        using Word = decltype(word);
        const Word* from = stored<Word>(context.in(1));
        Word* cache = stored<Word>(context.out(0));
        for (int64_t o = 0; o < shape[0] * per_image; ++o) {
            const int64_t first = first_place(indices[static_cast<size_t>(o / per_image)], places, slices, circular);
            for (int64_t i = 0; i < slices; ++i, from += inner)
                std::copy_n(from, inner, cache + (o * places + (first + i) % places) * inner);
        }
    });
}

}  // namespace

const Op tensor_scatter_op{{
    .name = "TensorScatter",
    .since = {24},
    .inputs = {2, 3},
    .types = fixed_size_types | string_type,
    .attributes = {{"axis", "int", "-2", "the axis that the update goes along"},
                   {"mode", "string", "linear",
                    "\"linear\": the update must fit, \"circular\": it goes on at the start"}},
    .infer = infer_tensor_scatter,
    .reference = tensor_scatter_reference,
    .data_movement = true,
    .help = "A cache with each image's update written along an axis, from that image's index on or from 0.",
}};

}  // namespace headway
