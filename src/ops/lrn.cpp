#include <algorithm>
#include <cmath>

#include "ops/arguments.h"
#include "ops/elementwise.h"
#include "ops/rows.h"

namespace headway {
namespace {

void infer_lrn(InferContext& context) {
    if (context.shape(0).rank() < 2) throw UserError("its input has no channels");
    if (context.attributes().integer("size", 0) < 1) throw UserError("attribute size is not positive");
    infer_same(context);
}

void lrn_reference(const ReferenceContext& context) {
    const int64_t size = context.attributes.integer("size", 1);
    const double alpha = context.attributes.real("alpha", 1e-4F);
    const double beta = context.attributes.real("beta", 0.75F);
    const double bias = context.attributes.real("bias", 1.0F);
    change_lines(context, Lines::along(context.in(0).shape(), 1), [&](std::vector<double>& line) {
        const std::vector<double> x = line;
        const auto channels = static_cast<int64_t>(x.size());
        for (int64_t c = 0; c < channels; ++c) {
            double sum = 0;
            const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
            const int64_t last = std::min(channels - 1, c + std::min(size / 2, channels));
            for (int64_t i = first; i <= last; ++i) sum += x[static_cast<size_t>(i)] * x[static_cast<size_t>(i)];
            line[static_cast<size_t>(c)] /= std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
        }
    });
}

}  // namespace

const Op lrn_op{{
    .name = "LRN",
    .since = {1, 13},
    .types = float_types,
    .attributes = {{"alpha", "float", "0.0001", "scale of the sum of squares"},
                   {"beta", "float", "0.75", "exponent"},
                   {"bias", "float", "1.0", "added to the sum"},
                   {"size", "int", "", "channels in a sum"}},
    .infer = infer_lrn,
    .reference = lrn_reference,
    .help = "Each element divided by a power of the sum of squares of the neighbouring channels.",
}};

}  // namespace headway
