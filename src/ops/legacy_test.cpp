// Forms of operators of opset 6 and older, by hand-computed values.
#include "ops/testing.h"

namespace headway {
namespace {

using namespace testing;

TEST(LegacyBroadcast, LaysTheSecondOperandAlongTheFirst) {
    const Tensor x = ramp({2, 3, 2}, 1);
    const auto sum = [&](const Tensor& y, const NamedAttributes& attributes) {
        return run_op("Add", 6, {x, y}, attributes)[0];
    };
    expect_values(sum(f32({3}, {10, 20, 30}), {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}}), {2, 3, 2},
                  {11, 12, 23, 24, 35, 36, 17, 18, 29, 30, 41, 42});
    expect_values(sum(f32({2}, {10, 20}), {{"broadcast", int64_t{1}}}), {2, 3, 2},
                  {11, 22, 13, 24, 15, 26, 17, 28, 19, 30, 21, 32});
    expect_values(sum(f32({2}, {10, 20}), {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}), {2, 3, 2},
                  {11, 12, 13, 14, 15, 16, 27, 28, 29, 30, 31, 32});
    expect_values(sum(f32({2, 1}, {10, 20}), {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}), {2, 3, 2},
                  {11, 12, 13, 14, 15, 16, 27, 28, 29, 30, 31, 32});
    expect_values(sum(f32({}, {10}), {{"broadcast", int64_t{1}}}), {2, 3, 2},
                  {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22});
    EXPECT_THROW(sum(f32({3}, {1, 2, 3}), {{"broadcast", int64_t{1}}}), UserError);
    EXPECT_THROW(sum(f32({2}, {1, 2}), {}), UserError) << "without broadcast the shapes are equal";
    EXPECT_THROW(sum(f32({2, 2}, {1, 2, 3, 4}), {{"broadcast", int64_t{1}}, {"axis", int64_t{2}}}), UserError);
    EXPECT_THROW(sum(f32({2}, {1, 2}), {{"broadcast", int64_t{1}}, {"axis", INT64_MIN}}), UserError);
    EXPECT_THROW(run_op("Add", 6, {f32({1}, {1}), x}, {{"broadcast", int64_t{1}}}), UserError) << "only the second";
}

TEST(LegacyBroadcast, HoldsForEveryOperatorOfTwoInputs) {
    const NamedAttributes along{{"broadcast", int64_t{1}}, {"axis", int64_t{0}}};
    const Tensor x = f32({2, 2}, {1, 2, 3, 4});
    const Tensor y = f32({2}, {2, 3});
    expect_values(run_op("Sub", 6, {x, y}, along)[0], {2, 2}, {-1, 0, 0, 1});
    expect_values(run_op("Mul", 6, {x, y}, along)[0], {2, 2}, {2, 4, 9, 12});
    expect_values(run_op("Div", 1, {x, y}, along)[0], {2, 2}, {0.5, 1, 1, 4.0 / 3});
    expect_values(run_op("Pow", 1, {x, y}, along)[0], {2, 2}, {1, 4, 27, 64});
    expect_values(run_op("Less", 1, {x, y}, along)[0], {2, 2}, {1, 0, 0, 0});
    expect_values(run_op("Greater", 1, {x, y}, along)[0], {2, 2}, {0, 0, 0, 1});
    const Tensor whole = of_type(ElementType::i32, {2, 2}, {1, 2, 3, 4});
    expect_values(run_op("Equal", 1, {whole, of_type(ElementType::i32, {2}, {2, 3})}, along)[0], {2, 2}, {0, 1, 1, 0});
    const Tensor a = of_type(ElementType::boolean, {2, 2}, {0, 1, 0, 1});
    const Tensor b = of_type(ElementType::boolean, {2}, {0, 1});
    expect_values(run_op("And", 1, {a, b}, along)[0], {2, 2}, {0, 0, 0, 1});
    expect_values(run_op("Or", 1, {a, b}, along)[0], {2, 2}, {0, 1, 1, 1});
    expect_values(run_op("Xor", 1, {a, b}, along)[0], {2, 2}, {0, 1, 1, 0});
}

TEST(LegacyBroadcast, PReluLaysItsSlopeAlongTheChannels) {
    const Tensor x = f32({1, 2, 2}, {-1, 1, -2, -3});
    expect_values(run_op("PRelu", 6, {x, f32({2}, {10, 100})})[0], {1, 2, 2}, {-10, 1, -200, -300});
    expect_values(run_op("PRelu", 6, {x, f32({1}, {10})})[0], {1, 2, 2}, {-10, 1, -20, -30});
    expect_values(run_op("PRelu", 7, {x, f32({2}, {10, 100})})[0], {1, 2, 2}, {-10, 1, -20, -300});
}

TEST(LegacyForms, AttributesHaveTheirOldNamesAndDefaults) {
    expect_values(run_op("Concat", 1, {f32({1, 1}, {1}), f32({1, 1}, {2})})[0], {1, 2}, {1, 2});
    EXPECT_THROW(run_op("Concat", 4, {f32({1, 1}, {1})}), UserError);
    expect_values(run_op("Pad", 1, {f32({1}, {5})}, {{"paddings", ints({1, 0})}, {"value", 7.0F}})[0], {2}, {7, 5});
    const std::vector<Tensor> statistics{f32({1, 1}, {3}), f32({1}, {2}), f32({1}, {1}), f32({1}, {1}), f32({1}, {4})};
    expect_values(run_op("BatchNormalization", 6, statistics, {{"is_test", int64_t{1}}, {"epsilon", 0.0F}})[0], {1, 1},
                  {3});
    EXPECT_THROW(run_op("BatchNormalization", 6, statistics), Unsupported) << "training by default";
    expect_values(
        run_op("Gemm", 6, {f32({1, 1}, {2}), f32({1, 2}, {3, 4}), f32({2}, {1, 1})}, {{"broadcast", int64_t{1}}})[0],
        {1, 2}, {7, 9});
    expect_values(run_op("Selu", 1, {f32({2}, {-1, 1})})[0], {2}, {-1.11128769, 1.0507}, 1e-6);
    expect_values(run_op("Selu", 6, {f32({2}, {-1, 1})})[0], {2}, {-1.11133073, 1.05070102}, 1e-6);
    expect_values(run_op("Cast", 1, {f32({2}, {-1.5, 2})}, {{"to", std::string("INT32")}})[0], {2}, {-1, 2});
    EXPECT_EQ(run_op("Cast", 1, {f32({1}, {1})}, {{"to", std::string("UINT64")}})[0].type(), ElementType::u64);
    EXPECT_THROW(run_op("Cast", 1, {f32({1}, {1})}, {{"to", std::string("COMPLEX64")}}), Unsupported);
    EXPECT_THROW(run_op("Cast", 1, {f32({1}, {1})}, {{"to", int64_t{6}}}), UserError);
    const Tensor image = f32({1, 1, 2, 2}, {1, 2, 3, 4});
    expect_values(run_op("GlobalLpPool", 1, {image}, {{"p", 1.5F}})[0], {1, 1, 1, 1}, {6.61786032});
    expect_values(run_op("LpPool", 1, {image}, {{"p", 1.5F}, {"kernel_shape", ints({2, 1})}})[0], {1, 1, 1, 2},
                  {3.37350529, 4.89452163});
}

TEST(LegacyForms, LengthsAndRepeatsAreInputsOfTheDataType) {
    const Tensor x = ramp({2, 3}, 1);
    expect_values(run_op("Tile", 1, {x, f32({1}, {2}), f32({1}, {0})})[0], {4, 3},
                  {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
    expect_values(run_op("Tile", 1, {x, i64({}, {2}), i64({}, {-1})})[0], {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
    EXPECT_THROW(run_op("Tile", 1, {x, f32({1}, {1.5}), f32({1}, {0})}), UserError);
    EXPECT_THROW(run_op("Tile", 1, {x, f32({1}, {nan_f}), f32({1}, {0})}), UserError);
    EXPECT_THROW(run_op("Tile", 1, {x, f32({1}, {2}), f32({1}, {2})}), UserError);
    EXPECT_THROW(run_op("Tile", 1, {x, f32({1}, {-2}), f32({1}, {0})}), UserError);
    EXPECT_THROW(run_op("Tile", 1, {x, i64({1, 1})}), UserError) << "its version repeats one axis";
    EXPECT_THROW(run_op("Tile", 6, {x, i64({1}), i64({0})}), UserError) << "its version has no axis";
    const auto parts = run_op("Split", 1, {x, f32({2}, {1, 2})}, {{"axis", int64_t{1}}}, 2);
    expect_values(parts[0], {2, 1}, {1, 4});
    expect_values(parts[1], {2, 2}, {2, 3, 5, 6});
    expect_values(run_op("Split", 1, {x}, {}, 2)[1], {1, 3}, {4, 5, 6});
    expect_values(run_op("Split", 1, {x}, {{"split", ints({2, 1})}, {"axis", int64_t{1}}}, 2)[1], {2, 1}, {3, 6});
    EXPECT_THROW(run_op("Split", 1, {x, f32({2}, {0.5, 2.5})}, {{"axis", int64_t{1}}}, 2), UserError);
    EXPECT_THROW(run_op("Split", 2, {x, f32({2}, {1, 2})}, {{"axis", int64_t{1}}}, 2), UserError);
}

TEST(LegacyForms, UpsampleScalesRowsAndColumns) {
    const Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4});
    expect_values(run_op("Upsample", 1, {x}, {{"height_scale", 2.0F}, {"width_scale", 1.5F}})[0], {1, 1, 4, 3},
                  {1, 1, 2, 1, 1, 2, 3, 3, 4, 3, 3, 4});
    expect_values(run_op("Upsample", 1, {x},
                         {{"height_scale", 1.0F}, {"width_scale", 2.0F}, {"mode", std::string("bilinear")}})[0],
                  {1, 1, 2, 4}, {1, 1.5, 2, 2, 3, 3.5, 4, 4});
    EXPECT_THROW(run_op("Upsample", 1, {x}, {{"height_scale", 2.0F}}), UserError);
    EXPECT_THROW(run_op("Upsample", 1, {ramp({2, 2})}, {{"height_scale", 2.0F}, {"width_scale", 2.0F}}), UserError);
    EXPECT_THROW(
        run_op("Upsample", 7, {x}, {{"scales", std::vector<float>{1, 1, 1, 2}}, {"mode", std::string("bilinear")}}),
        UserError);
}

TEST(LegacyForms, StatisticsPerElementOfAnImage) {
    const Tensor x = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const std::vector<Tensor> operands{x, f32({2, 2}, {1, 2, 3, 4}), f32({2, 2}, {10, 20, 30, 40}),
                                       f32({2, 2}, {1, 0, 1, 0}), f32({2, 2}, {1, 1, 4, 4})};
    const NamedAttributes per_element{{"spatial", int64_t{0}}, {"epsilon", 0.0F}, {"is_test", int64_t{1}}};
    const std::vector<double> want{10, 24, 33, 48, 14, 32, 39, 56};
    for (const int version : {1, 6, 7})
        expect_values(run_op("BatchNormalization", version, operands, per_element)[0], {2, 2, 2}, want);
    EXPECT_THROW(run_op("BatchNormalization", 9, operands, per_element), UserError) << "per channel from opset 9 on";
    EXPECT_THROW(run_op("BatchNormalization", 7, operands), UserError);
    const std::vector<Tensor> channels{x, f32({2}, {1, 1}), f32({2}, {0, 0}), f32({2}, {0, 0}), f32({2}, {1, 1})};
    EXPECT_THROW(run_op("BatchNormalization", 7, channels, per_element), UserError);
}

// What output_sequence leaves open, the names of the outputs say: Y is there when somebody reads it.
TEST(LegacyForms, RecurrencesAreThoseOfOpset7) {
    const Tensor x = ramp({3, 2, 2}, -0.5F, 0.1F);
    const auto both = [&](const char* op, int version, int64_t gates) {
        const std::vector<Tensor> operands{x, ramp({1, gates * 2, 2}, -0.4F, 0.07F),
                                           ramp({1, gates * 2, 2}, 0.3F, -0.05F), ramp({1, gates * 4}, -0.2F, 0.03F)};
        const auto old =
            run_op(op, version, operands, {{"hidden_size", int64_t{2}}, {"output_sequence", int64_t{0}}}, 2);
        const auto today = run_op(op, 14, operands, {{"hidden_size", int64_t{2}}}, 2);
        for (size_t i = 0; i < 2; ++i) EXPECT_EQ(old[i].hash(), today[i].hash()) << op << " output " << i;
    };
    both("RNN", 1, 1);
    both("GRU", 1, 3);
    both("GRU", 3, 3);
    both("LSTM", 1, 4);
}

}  // namespace
}  // namespace headway
