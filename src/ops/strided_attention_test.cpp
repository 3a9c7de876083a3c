#include <cmath>

#include "ops/testing.h"

// Two heads of one value each: queries, keys and values lie side by side in the rows of x. By a scale of ln 2 a key of
// 1 counts twice as much as one of 0.
namespace headway {
namespace {

using namespace testing;

const Tensor rows = f32({1, 2, 6}, {1, 0, 0, 1, 6, 10,  //
                                    0, 1, 1, 1, 9, 20});

std::vector<Tensor> attend_rows(const std::vector<Tensor>& mask, const NamedAttributes& more) {
    std::vector<Tensor> inputs{rows, rows, rows};
    inputs.insert(inputs.end(), mask.begin(), mask.end());
    NamedAttributes attributes{{"batch", ints({2})},      {"extents", ints({2, 2, 1, 1})}, {"shape", ints({1, 2, 2})},
                               {"q", ints({0, 1, 6, 1})}, {"k", ints({2, 1, 6, 1})},       {"v", ints({4, 1, 6, 1})},
                               {"y", ints({0, 1, 2, 1})}, {"scale", std::log(2.0F)}};
    attributes.insert(attributes.end(), more.begin(), more.end());
    return run_op("headway/StridedAttention", 1, inputs, attributes);
}

TEST(StridedAttention, ReadsHeadsWhereTheyLie) {
    // Query 0 of head 0 tells the keys apart; to the others they are alike.
    expect_values(attend_rows({}, {})[0], {1, 2, 2}, {8, 15, 7.5, 15});
    expect_values(attend_rows({}, {{"scale", 0.0F}})[0], {1, 2, 2}, {7.5, 15, 7.5, 15});
}

TEST(StridedAttention, MasksAndCausality) {
    const Tensor added = f32({2}, {0, -inf_f});
    const auto first_key = attend_rows({added}, {{"mask_kind", std::string("add")}, {"mask", ints({0, 0, 0, 1})}});
    expect_values(first_key[0], {1, 2, 2}, {6, 10, 6, 10});
    const Tensor flags = of_type(ElementType::boolean, {2, 2}, {1, 1, 0, 1});
    const NamedAttributes keeps{{"mask_kind", std::string("keep")}, {"mask", ints({0, 0, 2, 1})}, {"hidden", -inf_f}};
    expect_values(attend_rows({flags}, keeps)[0], {1, 2, 2}, {8, 15, 9, 20});
    expect_values(attend_rows({}, {{"causal", int64_t{0}}})[0], {1, 2, 2}, {6, 10, 7.5, 15});
}

TEST(StridedAttention, RowsWithoutAKey) {
    expect_values(attend_rows({}, {{"causal", int64_t{-1}}})[0], {1, 2, 2}, {nan_f, nan_f, 6, 10});
    expect_values(attend_rows({}, {{"causal", int64_t{-1}}, {"nan_to_zero", int64_t{1}}})[0], {1, 2, 2}, {0, 0, 6, 10});
}

// Nothing bounds the heads of an empty result, which must not take the time of going through them.
TEST(StridedAttention, NothingToCompute) {
    const int64_t many = 2'000'000'000;
    const NamedAttributes empty{{"batch", ints({many, many})}, {"extents", ints({2, 2, 0, 0})},
                                {"shape", ints({2, 0})},       {"q", ints({0, 0, 0, 6, 1})},
                                {"k", ints({0, 0, 0, 6, 1})},  {"v", ints({0, 0, 0, 6, 1})},
                                {"y", ints({0, 0, 0, 1, 1})}};
    expect_values(attend_rows({}, empty)[0], {2, 0}, {});
}

TEST(StridedAttention, RefusesWhatReachesOutside) {
    EXPECT_THROW(attend_rows({}, {{"v", ints({5, 1, 6, 1})}}), UserError);
    EXPECT_THROW(attend_rows({}, {{"y", ints({0, 1, 1, 1})}}), UserError);
    EXPECT_THROW(attend_rows({}, {{"q", ints({0, 1, 6})}}), UserError);
    EXPECT_THROW(attend_rows({rows}, {}), UserError);
}

}  // namespace
}  // namespace headway
