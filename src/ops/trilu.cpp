#include <algorithm>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

void infer_trilu(InferContext& context) {
    if (context.shape(0).rank() < 2) throw UserError("its input is no matrix");
    infer_same(context);
}

void trilu_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const int64_t rows = shape[shape.rank() - 2];
    const int64_t columns = shape.back();
    const bool upper = context.attributes.integer("upper", 1) != 0;
    int64_t diagonal = 0;
    if (context.has(1)) {
        scalar_of(context.in(1), "k");
        // Beyond the matrix, all diagonals are alike.
        diagonal = std::clamp(context.in(1).to_int64()[0], -rows - 1, columns + 1);
    }
    visit_size(context.in(0).type(), [&](auto word) {
        using Word = decltype(word);
        const Word* x = stored<Word>(context.in(0));
        Word* y = stored<Word>(context.out(0));
        for (int64_t i = 0; i < shape.elements(); ++i) {
            const int64_t distance = i % columns - i / columns % rows - diagonal;
            y[i] = (upper ? distance >= 0 : distance <= 0) ? x[i] : Word{0};
        }
    });
}

}  // namespace

const Op trilu_op{{
    .name = "Trilu",
    .since = {14},
    .inputs = {1, 2},
    .types = fixed_size_types | string_type,
    .attributes = {{"upper", "int", "1", "1: keep the upper triangle, 0: the lower"}},
    .infer = infer_trilu,
    .reference = trilu_reference,
    .help = "A triangle of each matrix, zero (of strings: empty) elsewhere.",
}};

}  // namespace headway
