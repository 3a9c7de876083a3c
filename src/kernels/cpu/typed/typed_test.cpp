// Comparisons, Where and Cast against element-by-element evaluation.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using Index = std::vector<int64_t>;

template <class T>
std::vector<T> small_values(int64_t count, uint32_t seed) {
    std::vector<T> values;
    for (float value : testing::random_floats(count, seed, 0, 4))
        values.push_back(static_cast<T>(static_cast<int>(value)));
    return values;
}

template <class T>
T at(const Shape& shape, const std::vector<T>& values, const Index& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < shape.rank(); ++i)
        offset = offset * shape[i] + (shape[i] == 1 ? 0 : index[i + index.size() - shape.rank()]);
    return values[static_cast<size_t>(offset)];
}

template <class T>
void check_compare(const std::string& op, ElementType type, const std::function<bool(T, T)>& rule) {
    const std::vector<std::pair<Shape, Shape>> shapes{
        {{3, 5, 40}, {3, 5, 40}}, {{3, 5, 40}, {1}}, {{1, 1, 40}, {3, 5, 1}},
        {{5, 1}, {3, 1, 40}},     {{0, 4}, {4}},     {{}, {}},
        {{20000}, {20000}}};
    for (const auto& [a_shape, b_shape] : shapes) {
        const Shape shape = broadcast(a_shape, b_shape);
        const std::vector<T> a = small_values<T>(a_shape.elements(), 1), b = small_values<T>(b_shape.elements(), 2);
        std::vector<uint8_t> want;
        testing::for_each_index(shape, [&](const Index& index, int64_t) {
            want.push_back(rule(at(a_shape, a, index), at(b_shape, b, index)));
        });
        for (const bool constant : {false, true}) {
            testing::KernelCase test;
            test.problem.op = op;
            test.add_src({type, a_shape, Layout::plain}, a);
            test.add_src({type, b_shape, Layout::plain}, b, constant);
            test.problem.dst = {{ElementType::boolean, shape, Layout::plain}};
            testing::expect_all<uint8_t>(test, want);
        }
    }
}

template <class T>
void check_comparisons(ElementType type) {
    check_compare<T>("Equal", type, std::equal_to<T>{});
    check_compare<T>("Less", type, std::less<T>{});
    check_compare<T>("LessOrEqual", type, std::less_equal<T>{});
    check_compare<T>("Greater", type, std::greater<T>{});
    check_compare<T>("GreaterOrEqual", type, std::greater_equal<T>{});
}

TEST(Compare, TypesAndBroadcasts) {
    check_comparisons<float>(ElementType::f32);
    check_comparisons<int32_t>(ElementType::i32);
    check_comparisons<int64_t>(ElementType::i64);
    check_comparisons<uint8_t>(ElementType::u8);
    check_compare<uint8_t>("And", ElementType::boolean, [](uint8_t a, uint8_t b) { return a && b; });
    check_compare<uint8_t>("Or", ElementType::boolean, [](uint8_t a, uint8_t b) { return a || b; });
    check_compare<uint8_t>("Xor", ElementType::boolean, [](uint8_t a, uint8_t b) { return !a != !b; });
}

template <class T>
void check_test(const std::string& op, ElementType type, const std::vector<T>& from, const std::vector<uint8_t>& to) {
    testing::KernelCase test;
    test.problem.op = op;
    const auto n = static_cast<int64_t>(from.size());
    test.add_src({type, {n}, Layout::plain}, from);
    test.problem.dst = {{ElementType::boolean, {n}, Layout::plain}};
    testing::expect_all<uint8_t>(test, to);
}

TEST(Test, IsNaNAndNot) {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    check_test<float>("IsNaN", ElementType::f32, {0, nan, -nan, inf, -inf, 1e-40F, 3, 4, nan, 5},
                      {0, 1, 1, 0, 0, 0, 0, 0, 1, 0});
    check_test<uint8_t>("Not", ElementType::boolean, {0, 1, 1, 0}, {1, 0, 0, 1});
    check_test<float>("IsNaN", ElementType::f32, {}, {});
}

template <class T>
void check_where(ElementType type, const Shape& c_shape, const Shape& y_shape, const Shape& n_shape) {
    const Shape shape = broadcast(broadcast(c_shape, y_shape), n_shape);
    std::vector<uint8_t> condition = small_values<uint8_t>(c_shape.elements(), 3);
    for (uint8_t& value : condition) value = value > 1;
    const std::vector<T> yes = small_values<T>(y_shape.elements(), 4), no = small_values<T>(n_shape.elements(), 5);
    std::vector<T> want;
    testing::for_each_index(shape, [&](const Index& index, int64_t) {
        want.push_back(at(c_shape, condition, index) ? at(y_shape, yes, index) : at(n_shape, no, index));
    });
    testing::KernelCase test;
    test.problem.op = "Where";
    test.add_src({ElementType::boolean, c_shape, Layout::plain}, condition);
    test.add_src({type, y_shape, Layout::plain}, yes);
    test.add_src({type, n_shape, Layout::plain}, no);
    test.problem.dst = {{type, shape, Layout::plain}};
    testing::expect_all<T>(test, want);
}

TEST(Where, TypesAndBroadcasts) {
    for (const auto& [c, y, n] : {std::tuple<Shape, Shape, Shape>{{3, 50}, {3, 50}, {3, 50}},
                                  {{3, 50}, {3, 50}, {1}},
                                  {{3, 50}, {}, {3, 50}},
                                  {{50}, {3, 1}, {1, 1}},
                                  {{3, 1}, {50}, {3, 50}}}) {
        check_where<float>(ElementType::f32, c, y, n);
        check_where<int64_t>(ElementType::i64, c, y, n);
        check_where<uint8_t>(ElementType::boolean, c, y, n);
    }
}

template <class From, class To>
void check_cast(ElementType from_type, ElementType to_type, const std::vector<From>& from, const std::vector<To>& to) {
    testing::KernelCase test;
    test.problem.op = "Cast";
    const auto n = static_cast<int64_t>(from.size());
    test.add_src({from_type, {n}, Layout::plain}, from);
    test.problem.dst = {{to_type, {n}, Layout::plain}};
    testing::expect_all<To>(test, to);
}

TEST(Cast, TruncatesSaturatesAndWraps) {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    using L = std::numeric_limits<int64_t>;
    check_cast<float, int64_t>(ElementType::f32, ElementType::i64, {1.9F, -1.9F, inf, -inf, nan, 1e30F, 0.5F},
                               {1, -1, L::max(), L::min(), 0, L::max(), 0});
    check_cast<float, uint8_t>(ElementType::f32, ElementType::u8, {300, -5, 7.7F}, {255, 0, 7});
    check_cast<float, uint8_t>(ElementType::f32, ElementType::boolean, {0, -0.0F, 0.1F, nan}, {0, 0, 1, 1});
    check_cast<int64_t, float>(ElementType::i64, ElementType::f32, {1, -7, 1LL << 40}, {1, -7, 1099511627776.0F});
    check_cast<int64_t, int32_t>(ElementType::i64, ElementType::i32, {1LL << 32, (1LL << 32) + 5}, {0, 5});
    check_cast<int64_t, uint8_t>(ElementType::i64, ElementType::boolean, {256, 0}, {1, 0});
    check_cast<uint8_t, float>(ElementType::boolean, ElementType::f32, {1, 0, 1}, {1, 0, 1});
    check_cast<uint8_t, int64_t>(ElementType::u8, ElementType::i64, {255, 3}, {255, 3});
}

}  // namespace
}  // namespace headway
