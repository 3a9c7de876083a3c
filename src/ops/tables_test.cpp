#include "ops/testing.h"

// Expected values were computed with ONNX Runtime and the ONNX reference, which agree where both handle a case.
namespace headway {
namespace {

using namespace testing;

TEST(TfIdfVectorizer, SkipsAndWeights) {
    {
        const auto y = run_op("TfIdfVectorizer", 9, {i64({2, 4}, {1, 2, 2, 7, 1, 7, 2, 2})},
                              {{"mode", std::string("TFIDF")},
                               {"min_gram_length", int64_t{1}},
                               {"max_gram_length", int64_t{3}},
                               {"max_skip_count", int64_t{1}},
                               {"ngram_counts", ints({0, 2, 6})},
                               {"ngram_indexes", ints({0, 1, 2, 3, 4})},
                               {"pool_int64s", ints({1, 2, 1, 2, 2, 2, 1, 2, 2})},
                               {"weights", std::vector<float>{0.5F, 1, 2, 3, 0.25F}}},
                              1);
        expect_values(y[0], {2, 5}, {0.5, 2, 4, 3, 0.25, 0.5, 2, 2, 3, 0});
    }
    {
        const auto y = run_op("TfIdfVectorizer", 9, {i64({2, 4}, {1, 2, 2, 7, 1, 7, 2, 2})},
                              {{"mode", std::string("IDF")},
                               {"min_gram_length", int64_t{1}},
                               {"max_gram_length", int64_t{3}},
                               {"max_skip_count", int64_t{1}},
                               {"ngram_counts", ints({0, 2, 6})},
                               {"ngram_indexes", ints({0, 1, 2, 3, 4})},
                               {"pool_int64s", ints({1, 2, 1, 2, 2, 2, 1, 2, 2})},
                               {"weights", std::vector<float>{0.5F, 1, 2, 3, 0.25F}}},
                              1);
        expect_values(y[0], {2, 5}, {0.5, 1, 2, 3, 0.25, 0.5, 1, 2, 3, 0});
    }
}

TEST(TfIdfVectorizer, RefusesPoolsThatDoNotFit) {
    NamedAttributes attributes{{"mode", std::string("TF")},     {"min_gram_length", int64_t{1}},
                               {"max_gram_length", int64_t{2}}, {"max_skip_count", int64_t{0}},
                               {"ngram_counts", ints({0, 1})},  {"ngram_indexes", ints({0, 1})},
                               {"pool_int64s", ints({1, 2, 3})}};
    expect_values(run_op("TfIdfVectorizer", 9, {i64({1, 2, 3})}, attributes)[0], {2}, {1, 1});
    attributes.back().second = ints({1, 2});
    EXPECT_THROW(run_op("TfIdfVectorizer", 9, {i64({1, 2, 3})}, attributes), UserError);
    attributes.back().second = ints({1, 2, 3, 4, 5});
    EXPECT_THROW(run_op("TfIdfVectorizer", 9, {i64({1, 2, 3})}, attributes), UserError);
    attributes.pop_back();
    attributes.emplace_back("pool_strings", std::vector<std::string>{"a", "b", "c"});
    EXPECT_THROW(run_op("TfIdfVectorizer", 9, {i64({1, 2, 3})}, attributes), UserError);
}

TEST(TreeEnsemble, SeveralTrees) {
    {
        const auto y = run_op("ai.onnx.ml/TreeEnsemble", 5, {f32({4, 2}, {0, 0, 1, 2, nan_f, nan_f, 5, 3})},
                              {{"n_targets", int64_t{2}},
                               {"aggregate_function", int64_t{0}},
                               {"tree_roots", ints({0, 2})},
                               {"nodes_modes", of_type(ElementType::u8, {3}, {1, 4, 5})},
                               {"nodes_featureids", ints({0, 1, 1})},
                               {"nodes_splits", f32({3}, {1, 2, 2})},
                               {"nodes_truenodeids", ints({0, 1, 0})},
                               {"nodes_trueleafs", ints({1, 1, 1})},
                               {"nodes_falsenodeids", ints({1, 2, 3})},
                               {"nodes_falseleafs", ints({0, 1, 1})},
                               {"nodes_missing_value_tracks_true", ints({1, 0, 0})},
                               {"leaf_targetids", ints({0, 1, 0, 1})},
                               {"leaf_weights", f32({4}, {1, -2, 4, 8})}},
                              1);
        expect_values(y[0], {4, 2}, {1, 0, 0, 3, 1, 0, 2.5, 0});
    }
    {
        const auto y = run_op("ai.onnx.ml/TreeEnsemble", 5, {f32({4, 2}, {0, 0, 1, 2, nan_f, nan_f, 5, 3})},
                              {{"n_targets", int64_t{1}},
                               {"aggregate_function", int64_t{2}},
                               {"tree_roots", ints({0, 2})},
                               {"nodes_modes", of_type(ElementType::u8, {3}, {1, 4, 5})},
                               {"nodes_featureids", ints({0, 1, 1})},
                               {"nodes_splits", f32({3}, {1, 2, 2})},
                               {"nodes_truenodeids", ints({0, 1, 0})},
                               {"nodes_trueleafs", ints({1, 1, 1})},
                               {"nodes_falsenodeids", ints({1, 2, 3})},
                               {"nodes_falseleafs", ints({0, 1, 1})},
                               {"nodes_missing_value_tracks_true", ints({1, 0, 0})},
                               {"leaf_targetids", ints({0, 0, 0, 0})},
                               {"leaf_weights", f32({4}, {1, -2, 4, 8})}},
                              1);
        expect_values(y[0], {4, 1}, {1, -2, 1, 1});
    }
}

// One node that leads to itself, or to a leaf that does not exist.
TEST(TreeEnsemble, RefusesBrokenTrees) {
    const auto run = [](int64_t yes, int64_t is_leaf) {
        return run_op("ai.onnx.ml/TreeEnsemble", 5, {f32({1, 1}, {0})},
                      {{"n_targets", int64_t{1}},
                       {"tree_roots", ints({0})},
                       {"nodes_modes", of_type(ElementType::u8, {1}, {0})},
                       {"nodes_featureids", ints({0})},
                       {"nodes_splits", f32({1}, {1})},
                       {"nodes_truenodeids", ints({yes})},
                       {"nodes_trueleafs", ints({is_leaf})},
                       {"nodes_falsenodeids", ints({0})},
                       {"nodes_falseleafs", ints({1})},
                       {"leaf_targetids", ints({0})},
                       {"leaf_weights", f32({1}, {3})}});
    };
    expect_values(run(0, 1)[0], {1, 1}, {3});
    EXPECT_THROW(run(0, 0), UserError);
    EXPECT_THROW(run(1, 1), UserError);
}

TEST(ArrayFeatureExtractor, VectorsAndIndicesOutside) {
    const auto y = run_op("ai.onnx.ml/ArrayFeatureExtractor", 1, {ramp({3}), i64({1, 2}, {2, 2})});
    expect_values(y[0], {1, 2}, {2, 2});
    EXPECT_THROW(run_op("ai.onnx.ml/ArrayFeatureExtractor", 1, {ramp({3}), i64({1}, {3})}), UserError);
    EXPECT_THROW(run_op("ai.onnx.ml/ArrayFeatureExtractor", 1, {ramp({3}), i64({1}, {-1})}), UserError);
}

}  // namespace
}  // namespace headway
