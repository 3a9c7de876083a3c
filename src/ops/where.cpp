#include "ops/elementwise.h"

namespace headway {
namespace {

void infer_where(InferContext& context) {
    if (context.type(1) != context.type(2)) throw UserError("its two choices have different types");
    context.set_output(0, context.type(1), broadcast(context.shape(0), broadcast(context.shape(1), context.shape(2))));
}

void where_reference(const ReferenceContext& context) {
    Tensor& y = context.out(0);
    const auto strides = [&](size_t i) { return broadcast_strides(context.in(i).shape(), y.shape()); };
    const StridedLoop<4> loop(y.shape(), {strides(0), strides(1), strides(2), y.shape().strides()});
    const auto* condition = stored<uint8_t>(context.in(0));
    visit_size(y.type(), [&](auto word) {
        using Word = decltype(word);
        const Word* yes = stored<Word>(context.in(1));
        const Word* no = stored<Word>(context.in(2));
        Word* to = stored<Word>(y);
        loop.for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
            for (int64_t i = 0; i < count; ++i)
                to[offsets[3] + i * steps[3]] = condition[offsets[0] + i * steps[0]] != 0
                                                    ? yes[offsets[1] + i * steps[1]]
                                                    : no[offsets[2] + i * steps[2]];
        });
    });
}

}  // namespace

const Op where_op{{
    .name = "Where",
    .since = {9, 16},
    .inputs = {3, 3},
    .types = boolean_type,
    .infer = infer_where,
    .reference = where_reference,
    .data_movement = true,
    .help = "Elements of the second input where the first is true, of the third elsewhere, with broadcasting.",
}};

}  // namespace headway
