#include <algorithm>
#include <cmath>

#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/random_draws.h"

namespace headway {
namespace {

void infer_multinomial(InferContext& context) {
    const Shape& shape = context.shape(0);
    const int64_t samples = context.attributes().integer("sample_size", 1);
    if (shape.rank() != 2 || shape[1] == 0) throw UserError("an input of " + shape.text() + " holds no classes");
    if (samples < 1) throw UserError("sample_size is " + std::to_string(samples));
    context.set_output(0, type_of(context.attributes(), "dtype", ElementType::i32, index_types),
                       Shape{shape[0], samples});
}

// The running sums of exp(x - largest x): weights of the classes, whatever the logarithms were normalised by.
std::vector<double> cumulative_weights(std::span<const double> logarithms) {
    const double largest = std::ranges::max(logarithms);
    std::vector<double> sums;
    double sum = 0;
    for (const double value : logarithms) {
        sum += std::exp(value - largest);
        sums.push_back(sum);
    }
    if (!std::isfinite(sum)) throw UserError("its log-probabilities hold NaN or infinity, or all are -infinity");
    return sums;
}

void multinomial_reference(const ReferenceContext& context) {
    Rng rng = seeded_rng(context.attributes);
    const auto classes = static_cast<size_t>(context.in(0).shape()[1]);
    const int64_t samples = context.out(0).shape()[1];
    const std::vector<double> x = doubles_of(context.in(0));
    int64_t at = 0;
    for (size_t row = 0; row < x.size(); row += classes) {
        const std::vector<double> sums = cumulative_weights(std::span(x).subspan(row, classes));
        for (int64_t sample = 0; sample < samples; ++sample) {
            const auto found = std::ranges::upper_bound(sums, rng.unit() * sums.back());
            // A product that rounds up to the sum itself belongs to the last class that has a weight.
            const auto drawn = found == sums.end() ? std::ranges::lower_bound(sums, sums.back()) : found;
            context.out(0).set(at++, static_cast<double>(drawn - sums.begin()));
        }
    }
}

}  // namespace

const Op multinomial_op{{
    .name = "Multinomial",
    .since = {7, 22},
    .types = float_types,
    .attributes = {{"dtype", "int", "6", "number of the element type: i32 or i64"},
                   {"sample_size", "int", "1", "draws for each row"},
                   {"seed", "float", "0", "of the generator"}},
    .infer = infer_multinomial,
    .reference = multinomial_reference,
    .help = "Classes drawn by the log-probabilities of each row. By std::mt19937_64: one seed gives the same values "
            "everywhere.",
}};

}  // namespace headway
