// Operators of ai.onnx.ml on the features of tables.
#include <algorithm>

#include "ops/arguments.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

constexpr TypeSet ml_types{ElementType::f32, ElementType::f64, ElementType::i64, ElementType::i32};

void binarizer_reference(const ReferenceContext& context) {
    const double threshold = context.attributes.real("threshold", 0);
    visit_number(context.in(0).type(), [&]<class E>(E) {
        apply_unary<E, E>(context.in(0), context.out(0),
                          [&](auto x) { return static_cast<decltype(x)>(static_cast<double>(x) > threshold ? 1 : 0); });
    });
}

void infer_array_feature_extractor(InferContext& context) {
    if (context.type(1) != ElementType::i64) throw UserError("its indices are not i64");
    Shape shape = context.shape(0);
    if (shape.rank() == 0) throw UserError("its input is a scalar");
    if (shape.rank() == 1) shape = Shape{1, shape[0]};
    shape[shape.rank() - 1] = context.shape(1).elements();
    context.set_output(0, context.type(0), std::move(shape));
}

void array_feature_extractor_reference(const ReferenceContext& context) {
    const std::vector<int64_t> indices = context.in(1).to_int64();
    const int64_t features = context.in(0).shape().back();
    for (int64_t index : indices)
        if (index < 0 || index >= features)
            throw UserError("index " + std::to_string(index) + " is outside " + std::to_string(features) + " features");
    const int64_t rows = features == 0 ? 0 : context.in(0).elements() / features;
    visit_size(context.in(0).type(), [&](auto word) {
        const auto* x = stored<decltype(word)>(context.in(0));
        auto* y = stored<decltype(word)>(context.out(0));
        for (int64_t row = 0; row < rows; ++row)
            for (int64_t index : indices) *y++ = x[row * features + index];
    });
}

}  // namespace

const Op binarizer_op{{
    .name = "Binarizer",
    .domain = "ai.onnx.ml",
    .since = {1},
    .types = ml_types,
    .attributes = {{"threshold", "float", "0.0", "what an element must exceed"}},
    .infer = infer_same,
    .reference = binarizer_reference,
    .help = "1 where an element exceeds the threshold, else 0.",
}};

const Op array_feature_extractor_op{{
    .name = "ArrayFeatureExtractor",
    .domain = "ai.onnx.ml",
    .since = {1},
    .inputs = {2, 2},
    .types = ml_types | string_type,
    .infer = infer_array_feature_extractor,
    .reference = array_feature_extractor_reference,
    .data_movement = true,
    .help = "The elements of the last axis that the indices name; a vector counts as one row.",
}};

}  // namespace headway
