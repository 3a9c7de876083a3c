#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/softmax.h"

namespace headway {
namespace {

void infer_bias_softmax(InferContext& context) {
    require_same_types(context);
    const Shape& x = context.shape(0);
    const Shape& bias = context.shape(1);
    if (!context.attributes().has("is_inner_broadcast")) throw UserError("is_inner_broadcast is missing");
    const int64_t last = axis_of(context.attributes(), 1, x.rank());
    const int64_t line = x.elements(static_cast<size_t>(last), x.rank());
    const int64_t size = bias.elements();
    if (size == 0 ? x.elements() != 0 : x.elements() % size != 0 || (line != 0 && size % line != 0))
        throw UserError("a bias of " + bias.text() + " does not fit an input of " + x.text());
    infer_same(context);
}

// The bias has whole lines. They repeat in turn (is_inner_broadcast = 0), or each for a run of following lines (1).
void bias_softmax_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const auto axis = static_cast<size_t>(axis_of(context.attributes, 1, shape.rank()));
    const int64_t line = shape.elements(axis, shape.rank());
    const int64_t lines = shape.elements(0, axis);
    std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> bias = doubles_of(context.in(1));
    if (x.empty()) return;
    const int64_t bias_lines = static_cast<int64_t>(bias.size()) / line;
    const bool is_inner = context.attributes.integer("is_inner_broadcast", 0) != 0;
    for (int64_t k = 0; k < lines; ++k) {
        const int64_t from = is_inner ? k / (lines / bias_lines) : k % bias_lines;
        for (int64_t i = 0; i < line; ++i)
            x[static_cast<size_t>(k * line + i)] += bias[static_cast<size_t>(from * line + i)];
        softmax_line(std::span(x).subspan(static_cast<size_t>(k * line), static_cast<size_t>(line)));
    }
    store_doubles(x, context.out(0));
}

}  // namespace

const Op bias_softmax_op{{
    .name = "BiasSoftmax",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 2},
    .types = float_types,
    .attributes = {{"axis", "int", "1", "all axes from it on make one line"},
                   {"is_inner_broadcast", "int", "",
                    "lines of the bias repeat in turn (0) or each for a run of following lines (1)"}},
    .infer = infer_bias_softmax,
    .reference = bias_softmax_reference,
    .help = "Softmax of the input plus a bias of fewer lines.",
}};

}  // namespace headway
