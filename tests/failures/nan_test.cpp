// Public failures of NaN and infinity: results that hang on the width of a vector, on the place of an element, on
// folding.
#include <cmath>

#include "everywhere.h"

namespace headway::testing {
namespace {

const double nan = std::nan("");
constexpr double inf = HUGE_VAL;

// G42: out of range and NaN, one documented result in scalar tails, vectors and folding.
TEST(Cast, OfWhatDoesNotFitIsOneResult) {
    struct Case {
        ElementType type;
        double low, high;
    };
    for (const Case& one : {Case{ElementType::i8, -128, 127}, Case{ElementType::u8, 0, 255},
                            Case{ElementType::i16, -32768, 32767}, Case{ElementType::i32, -2147483648.0, 2147483647.0}})
        for (const int64_t length : {1, 4, 7, 8, 15, 16, 17, 33, 67}) {
            const std::vector<double> cycle{3e10, -3e10, inf, -inf, 1.9, -1.9, 0};
            const std::vector<double> results{one.high, one.low, one.high, one.low, 1, one.low == 0 ? 0.0 : -1.0, 0};
            Tensor x(ElementType::f32, {length});
            for (int64_t i = 0; i < length; ++i) x.set(i, cycle[static_cast<size_t>(i) % cycle.size()]);
            const std::vector<double> want =
                numbers(length, [&](int64_t i) { return results[static_cast<size_t>(i) % results.size()]; });
            expect_everywhere(NodeCase{"Cast", 13, {x}, {{"to", static_cast<int64_t>(one.type)}}}, {{{length}, want}},
                              0);
            // NaN: whatever it is, every element and every way agree.
            for (int64_t i = 0; i < length; ++i) x.set(i, nan);
            const double first = run_op("Cast", 13, {x}, {{"to", static_cast<int64_t>(one.type)}})[0].at(0);
            expect_everywhere(NodeCase{"Cast", 13, {x}, {{"to", static_cast<int64_t>(one.type)}}},
                              {{{length}, std::vector<double>(static_cast<size_t>(length), first)}}, 0);
        }
}

// G43: NaN counts as the largest, equal values keep their order.
TEST(TopK, HasOneOrder) {
    expect_everywhere(NodeCase{"TopK", 11, {f32({4}, {1, nan_f, 1, 2}), i64({2})}, {}, 2},
                      {{{2}, {nan, 2}}, {{2}, {1, 3}}}, 0);
    expect_everywhere(NodeCase{"TopK", 11, {f32({4}, {1, nan_f, 1, 2}), i64({3})}, {{"largest", int64_t{0}}}, 2},
                      {{{3}, {1, 1, 2}}, {{3}, {0, 2, 3}}}, 0);
    for (const int64_t length : {2, 9, 33}) {
        const Tensor equal(ElementType::f32, {length});
        expect_everywhere(NodeCase{"TopK", 11, {equal, i64({2})}, {}, 2}, {{{2}, {0, 0}}, {{2}, {0, 1}}}, 0);
    }
}

// G44: one NaN at any place of a row of any length, and rows of nothing else.
TEST(NanInMaxima, WinsAtEveryPlace) {
    for (const int64_t length : {1, 2, 4, 7, 8, 9, 16, 17, 31, 40})
        for (int64_t place = -1; place<length; place += length> 9 ? 5 : 1) {
            Tensor x(ElementType::f32, {1, 1, 3, length});
            for (int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i % length) - 3);
            // The first row without, the second with one NaN, the third with nothing else.
            for (int64_t i = 0; i < length; ++i) x.set(2 * length + i, nan);
            if (place >= 0) x.set(length + place, nan);
            const double most = static_cast<double>(length) - 4;
            const double second = place < 0 ? most : nan;
            expect_everywhere(NodeCase{"ReduceMax", 13, {x}, {{"axes", ints({3})}, {"keepdims", int64_t{0}}}},
                              {{{1, 1, 3}, {most, second, nan}}}, 0);
            expect_everywhere(NodeCase{"ReduceMin", 13, {x}, {{"axes", ints({3})}, {"keepdims", int64_t{0}}}},
                              {{{1, 1, 3}, {-3, place < 0 ? -3 : nan, nan}}}, 0);
            expect_everywhere(NodeCase{"MaxPool", 12, {x}, {{"kernel_shape", ints({1, length})}}},
                              {{{1, 1, 3, 1}, {most, second, nan}}}, 0);
            const double at = static_cast<double>(place < 0 ? length - 1 : place);
            expect_everywhere(NodeCase{"ArgMax", 13, {x}, {{"axis", int64_t{3}}, {"keepdims", int64_t{0}}}},
                              {{{1, 1, 3}, {static_cast<double>(length - 1), at, 0}}}, 0);
        }
    // Down a column, which vectors of channels or columns compute.
    for (const int64_t width : {1, 5, 16, 19}) {
        Tensor x(ElementType::f32, {1, width, 4, 1});
        std::vector<double> want;
        for (int64_t c = 0; c < width; ++c) {
            for (int64_t i = 0; i < 4; ++i) x.set(c * 4 + i, c % 2 == 0 && i == c % 4 ? nan : static_cast<double>(i));
            want.push_back(c % 2 == 0 ? nan : 3);
        }
        expect_everywhere(NodeCase{"GlobalMaxPool", 1, {x}}, {{{1, width, 1, 1}, want}}, 0);
        expect_everywhere(NodeCase{"ReduceMax", 13, {x}, {{"axes", ints({2})}}}, {{{1, width, 1, 1}, want}}, 0);
    }
}

// NaN through the pointwise operators that compare, at each place of a vector.
TEST(NanInPointwise, PropagatesAtEveryPlace) {
    for (const int64_t length : {1, 3, 8, 17, 40}) {
        Tensor x(ElementType::f32, {length});
        for (int64_t i = 0; i < length; ++i) x.set(i, i % 3 == 1 ? nan : static_cast<double>(i) - 4);
        const auto each = [&](const std::function<double(double)>& value) {
            return numbers(length, [&](int64_t i) { return i % 3 == 1 ? nan : value(x.at(i)); });
        };
        expect_everywhere(NodeCase{"Relu", 13, {x}}, {{{length}, each([](double v) { return std::max(v, 0.0); })}}, 0);
        expect_everywhere(NodeCase{"Max", 13, {x, f32({}, {1})}},
                          {{{length}, each([](double v) { return std::max(v, 1.0); })}}, 0);
        expect_everywhere(NodeCase{"Min", 13, {x, f32({}, {1})}},
                          {{{length}, each([](double v) { return std::min(v, 1.0); })}}, 0);
        expect_everywhere(NodeCase{"Clip", 13, {x, f32({}, {-1}), f32({}, {2})}},
                          {{{length}, each([](double v) { return std::clamp(v, -1.0, 2.0); })}}, 0);
        expect_everywhere(NodeCase{"LeakyRelu", 6, {x}, {{"alpha", 0.5F}}},
                          {{{length}, each([](double v) { return v < 0 ? v / 2 : v; })}}, 0);
        expect_everywhere(NodeCase{"Max", 13, {f32({}, {nan_f}), x}, {}, 1, 2},
                          {{{length}, std::vector<double>(static_cast<size_t>(length), nan)}}, 0);
    }
}

// G45: a row whose scores are all masked away: NaN by Softmax's own formula, alone and inside attention spelled out.
TEST(MaskedRows, AreNanWhateverIsFused) {
    for (const int64_t width : {1, 3, 8, 17, 33}) {
        Tensor x(ElementType::f32, {2, width});
        std::vector<double> want;
        for (int64_t i = 0; i < 2 * width; ++i) {
            x.set(i, i < width ? -inf : 0);
            want.push_back(i < width ? nan : 1.0 / static_cast<double>(width));
        }
        expect_everywhere(NodeCase{"Softmax", 13, {x}}, {{{2, width}, want}});
        const std::string w = std::to_string(width);
        expect_everywhere(
            "graph { input %mask: f32[2," + w + "] const %q: f32[2,4] = fill(0) const %k: f32[4," + w +
                "] = random(1) const %v: f32[" + w +
                ",3] = fill(1) const %half: f32[] = {0.5} %s = MatMul(%q, %k) "
                "%t = Mul(%s, %half) %m = Add(%t, %mask) %p = Softmax(%m) %y = MatMul(%p, %v) output %y }",
            {x}, {{{2, 3}, {nan, nan, nan, 1, 1, 1}}});
    }
}

}  // namespace
}  // namespace headway::testing
