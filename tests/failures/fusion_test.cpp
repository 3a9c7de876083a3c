// Public failures of fusions: an operand taken by its place, a constant that is no bias, weights that others read.
// The ids are those of docs/design/0010-public-failures.md.
#include <cmath>

#include "everywhere.h"
#include "graph/text.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

Tensor normal(const Shape& shape, uint64_t seed, double deviation = 1) {
    return random_tensor(ElementType::f32, shape, seed, deviation);
}

std::string shape_text(const Shape& shape) {
    std::string text = "f32[";
    for (size_t axis = 0; axis < shape.rank(); ++axis) text += (axis == 0 ? "" : ",") + std::to_string(shape[axis]);
    return text + "]";
}

// Index of an element of `from`, which broadcasts to `to`, for element i of `to`.
int64_t broadcast_index(int64_t i, const Shape& to, const Shape& from) {
    int64_t at = 0;
    const std::vector<int64_t> outer = to.strides(), inner = from.strides();
    for (size_t axis = 0; axis < from.rank(); ++axis) {
        const size_t place = axis + to.rank() - from.rank();
        const int64_t position = i / outer[place] % to[place];
        at += from[axis] == 1 ? 0 : position * inner[axis];
    }
    return at;
}

// G1, G2: the last axis normalised by hand, then scaled and shifted by operands of any shape, in any order.
TEST(LayerNormFusion, TakesOperandsByWhatTheyAre) {
    for (const Shape& x : {Shape{4}, Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 4, 4}})
        for (const Shape& gamma : {Shape{4}, Shape{1}, Shape{}, Shape{4, 1}, Shape{1, 3, 1}, Shape{1, 1, 4}})
            for (const bool swapped : {false, true}) {
                bool fits = gamma.rank() <= x.rank();
                for (size_t axis = 0; fits && axis < gamma.rank(); ++axis)
                    fits = gamma[axis] == 1 || gamma[axis] == x[axis + x.rank() - gamma.rank()];
                if (!fits) continue;
                const Tensor data = normal(x, 1), scale = normal(gamma, 2), shift = normal(gamma, 3);
                const auto product = [&](const char* a, const char* b) {
                    return swapped ? std::string("(%") + b + ", %" + a + ")" : std::string("(%") + a + ", %" + b + ")";
                };
                const std::string axis = std::to_string(x.rank() - 1);
                const std::string text = "graph {\n input %x: " + shape_text(x) + "\n input %g: " + shape_text(gamma) +
                                         "\n input %b: " + shape_text(gamma) +
                                         "\n const %two: f32[] = {2}\n const %eps: f32[] = {0.001}\n"
                                         " %m = ReduceMean(%x) {axes=[" +
                                         axis +
                                         "]}\n %d = Sub(%x, %m)\n"
                                         " %s = Pow(%d, %two)\n %v = ReduceMean(%s) {axes=[" +
                                         axis +
                                         "]}\n"
                                         " %e = Add" +
                                         product("v", "eps") +
                                         "\n %r = Sqrt(%e)\n %n = Div(%d, %r)\n"
                                         " %k = Mul" +
                                         product("n", "g") + "\n %y = Add" + product("k", "b") + "\n output %y\n}";
                std::vector<double> want;
                const int64_t width = x.back();
                for (int64_t i = 0; i < x.elements(); ++i) {
                    double mean = 0, variance = 0;
                    const int64_t row = i / width * width;
                    for (int64_t k = 0; k < width; ++k) mean += data.at(row + k) / static_cast<double>(width);
                    for (int64_t k = 0; k < width; ++k)
                        variance += std::pow(data.at(row + k) - mean, 2) / static_cast<double>(width);
                    const int64_t at = broadcast_index(i, x, gamma);
                    want.push_back((data.at(i) - mean) / std::sqrt(variance + 0.001) * scale.at(at) + shift.at(at));
                }
                expect_everywhere(text, {data, scale, shift}, {{x, want}}, 2e-5);
                // The fusion itself only happens with constants for scale and shift.
                Graph fixed = parse_graph(text);
                for (size_t k = 2; k > 0; --k) {
                    fixed.value(fixed.inputs[k]).constant = k == 1 ? scale : shift;
                    fixed.inputs.pop_back();
                }
                expect_everywhere(fixed, {data}, {{x, want}}, 2e-5);
            }
}

// A convolution by a 1x1 kernel in groups, by plain loops.
std::vector<double> convolved(const Tensor& x, const Tensor& w, int64_t group) {
    const int64_t in = x.shape()[1], out = w.shape()[0], pixels = x.shape().elements(2, x.shape().rank());
    const int64_t depth = in / group, part = out / group;
    return numbers(x.shape()[0] * out * pixels, [&](int64_t i) {
        const int64_t image = i / (out * pixels), channel = i / pixels % out, pixel = i % pixels;
        double sum = 0;
        for (int64_t c = 0; c < depth; ++c)
            sum += w.at(channel * depth + c) * x.at((image * in + channel / part * depth + c) * pixels + pixel);
        return sum;
    });
}

// G3: only what is one number per channel is a bias.
TEST(BiasFusion, KeepsConstantsOfEveryOtherShape) {
    for (const int64_t group : {1, 2, 4})
        for (const Shape& addend :
             {Shape{}, Shape{1}, Shape{8, 1, 1}, Shape{1, 8, 1, 1}, Shape{1, 8, 3, 3}, Shape{1, 1, 3, 3}, Shape{3},
              Shape{3, 1}, Shape{8, 3, 1}, Shape{2, 1, 1, 1}, Shape{2, 8, 1, 1}})
            for (const bool first : {false, true}) {
                const Shape image{addend.rank() == 4 && addend[0] == 2 ? 2 : 1, 8, 3, 3};
                const Tensor x = normal(image, 1), w = normal({8, 8 / group, 1, 1}, 2, 0.4), c = normal(addend, 3);
                std::vector<double> want = convolved(x, w, group);
                for (size_t i = 0; i < want.size(); ++i)
                    want[i] += c.at(broadcast_index(static_cast<int64_t>(i), image, addend));
                Graph graph = parse_graph(
                    "graph {\n input %x: " + shape_text(image) + "\n input %w: " + shape_text(w.shape()) +
                    "\n input %c: " + shape_text(addend) + "\n %p = Conv(%x, %w) {group=" + std::to_string(group) +
                    "}\n %y = Add(" + (first ? "%c, %p" : "%p, %c") + ")\n output %y\n}");
                graph.value(graph.inputs[1]).constant = w;
                graph.value(graph.inputs[2]).constant = c;
                graph.inputs.resize(1);
                expect_everywhere(graph, {x}, {{image, want}});
            }
}

// G4: a constant that enlarges the product, or has more axes than a Gemm allows.
TEST(MatMulAddFusion, KeepsTheBroadcastOfTheAddition) {
    struct Case {
        Shape a, b, c, y;
    };
    for (const Case& one :
         {Case{{1, 4}, {4, 4}, {3, 4}, {3, 4}}, Case{{1, 4}, {4, 4}, {2, 1, 4}, {2, 1, 4}},
          Case{{3, 4}, {4, 4}, {4}, {3, 4}}, Case{{3, 4}, {4, 4}, {3, 1}, {3, 4}}, Case{{3, 4}, {4, 4}, {3, 4}, {3, 4}},
          Case{{1, 1, 1, 3, 4}, {4, 2}, {2}, {1, 1, 1, 3, 2}}, Case{{4}, {4, 4}, {4}, {4}},
          Case{{4}, {4, 4}, {3, 4}, {3, 4}}, Case{{2, 1, 4}, {4, 4}, {2, 3, 4}, {2, 3, 4}}}) {
        const Tensor a = normal(one.a, 1), b = normal(one.b, 2), c = normal(one.c, 3);
        const int64_t columns = one.b[1];
        std::vector<int64_t> product_dims(one.a.begin(), one.a.end() - 1);
        product_dims.push_back(columns);
        const Shape product(product_dims);
        const std::vector<double> want = numbers(one.y.elements(), [&](int64_t i) {
            const int64_t at = broadcast_index(i, one.y, product);
            double sum = c.at(broadcast_index(i, one.y, one.c));
            for (int64_t k = 0; k < 4; ++k) sum += a.at(at / columns * 4 + k) * b.at(k * columns + at % columns);
            return sum;
        });
        Graph graph = parse_graph("graph {\n input %a: " + shape_text(one.a) + "\n input %b: " + shape_text(one.b) +
                                  "\n input %c: " + shape_text(one.c) +
                                  "\n %p = MatMul(%a, %b)\n %y = Add(%p, %c)\n output %y\n}");
        expect_everywhere(graph, {a, b, c}, {{one.y, want}});
        graph.value(graph.inputs[1]).constant = b;
        graph.value(graph.inputs[2]).constant = c;
        graph.inputs.resize(1);
        expect_everywhere(graph, {a}, {{one.y, want}});
    }
}

// G5: BatchNormalization normalises axis 1, which is the last axis of a product only in rank 2.
TEST(MatMulBatchNormFusion, ScalesTheAxisOfTheChannels) {
    for (const Shape& a : {Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 5, 4}, Shape{2, 3, 2, 4}}) {
        const Tensor x = normal(a, 1), w = normal({4, 5}, 2);
        std::vector<int64_t> dims(a.begin(), a.end() - 1);
        dims.push_back(5);
        const Shape y(dims);
        const int64_t channels = y[1], inner = y.elements(2, y.rank());
        const Tensor s = normal({channels}, 3), b = normal({channels}, 4), m = normal({channels}, 5);
        const std::vector<double> want = numbers(y.elements(), [&](int64_t i) {
            double sum = 0;
            for (int64_t k = 0; k < 4; ++k) sum += x.at(i / 5 * 4 + k) * w.at(k * 5 + i % 5);
            const int64_t c = i / inner % channels;
            return (sum - m.at(c)) / std::sqrt(2 + 1e-5) * s.at(c) + b.at(c);
        });
        Graph graph = parse_graph(
            "graph {\n input %a: " + shape_text(a) + "\n input %w: f32[4,5]\n input %s: " + shape_text(s.shape()) +
            "\n input %b: " + shape_text(s.shape()) + "\n input %m: " + shape_text(s.shape()) +
            "\n const %v: " + shape_text(s.shape()) + " = fill(2)\n" +
            " %p = MatMul(%a, %w)\n %y = BatchNormalization:15(%p, %s, %b, %m, %v)\n output %y\n}");
        const std::vector<Tensor> constants{w, s, b, m};
        for (size_t k = 0; k < constants.size(); ++k) graph.value(graph.inputs[k + 1]).constant = constants[k];
        graph.inputs.resize(1);
        expect_everywhere(graph, {x}, {{y, want}});
    }
}

// G7: two convolutions share their weights, and only one is normalised; names of values are repeated in hints.
TEST(BatchNormFusion, LeavesSharedWeightsAlone) {
    const Tensor x = normal({1, 3, 2, 2}, 1), w = normal({3, 3, 1, 1}, 2);
    const std::vector<double> plain = convolved(x, w, 1);
    const std::vector<double> scale{1, -2, 3}, shift{0.5, 0, 1};
    const std::vector<double> normal_ones = numbers(12, [&](int64_t i) {
        const auto c = static_cast<size_t>(i / 4);
        return (plain[static_cast<size_t>(i)] - 0.25) / std::sqrt(4 + 1e-5) * scale[c] + shift[c];
    });
    Graph graph = parse_graph(R"(graph {
        input %x: f32[1,3,2,2]
        input %w: f32[3,3,1,1]
        const %s: f32[3] = {1,-2,3}
        const %b: f32[3] = {0.5,0,1}
        const %m: f32[3] = fill(0.25)
        const %v: f32[3] = fill(4)
        %p = Conv(%x, %w) @"same"
        %q = Conv(%x, %w) @"same"
        %y = BatchNormalization:15(%p, %s, %b, %m, %v) @"same"
        output %y
        output %q
    })");
    graph.value(graph.inputs[1]).constant = w;
    graph.inputs.resize(1);
    expect_everywhere(graph, {x}, {{{1, 3, 2, 2}, normal_ones}, {{1, 3, 2, 2}, plain}});
}

// G8: one convolution behind another, with and without something between that forbids merging them.
TEST(ConvAfterConv, IsTheProductOfBoth) {
    const Tensor x = normal({1, 3, 4, 4}, 1), w = normal({5, 3, 1, 1}, 2), u = normal({4, 5, 1, 1}, 3);
    for (const bool bends : {false, true}) {
        std::vector<double> middle = convolved(x, w, 1);
        if (bends)
            for (double& value : middle) value = std::max(0.0, value);
        const Tensor between = of_type(ElementType::f32, {1, 5, 4, 4}, middle);
        Graph graph = parse_graph(
            std::string("graph {\n input %x: f32[1,3,4,4]\n input %w: f32[5,3,1,1]\n input %u: f32[4,5,1,1]\n") +
            " %p = Conv(%x, %w)\n %r = " + (bends ? "Relu" : "Identity") + "(%p)\n %y = Conv(%r, %u)\n output %y\n}");
        graph.value(graph.inputs[1]).constant = w;
        graph.value(graph.inputs[2]).constant = u;
        graph.inputs.resize(1);
        expect_everywhere(graph, {x}, {{{1, 4, 4, 4}, convolved(between, u, 1)}}, 2e-5);
    }
}

// G9: pointwise work before, between and after reductions and Where, with results that others read.
TEST(PointwiseFusion, StopsAtReductionsAndKeepsConditions) {
    const Tensor x = normal({2, 3, 5}, 1);
    std::vector<double> sums(6), want, masks;
    for (int64_t i = 0; i < 30; ++i) sums[static_cast<size_t>(i / 5)] += std::exp(x.at(i));
    for (int64_t i = 0; i < 30; ++i) {
        const double share = std::exp(x.at(i)) / sums[static_cast<size_t>(i / 5)];
        masks.push_back(x.at(i) > 0.25 ? 1 : 0);
        want.push_back(x.at(i) > 0.25 ? share * 2 - x.at(i) : -share);
    }
    expect_everywhere(R"(graph {
        input %x: f32[2,3,5]
        const %limit: f32[] = {0.25}
        const %two: f32[] = {2}
        %e = Exp(%x)
        const %axis: i64[1] = {-1}
        %s = ReduceSum(%e, %axis) {keepdims=1}
        %p = Div(%e, %s)
        %above = Greater(%x, %limit)
        %d = Mul(%p, %two)
        %m = Sub(%d, %x)
        %n = Neg(%p)
        %y = Where(%above, %m, %n)
        output %y
        output %above
    })",
                      {x}, {{{2, 3, 5}, want}, {{2, 3, 5}, masks}});
}

// G20: a product that two nodes read is computed once.
TEST(SharedProducers, AreComputedOnce) {
    for (const char* heavy : {"MatMul(%x, %w)", "Gemm(%x, %w)"}) {
        const std::string text = std::string(
                                     "graph {\n input %x: f32[4,4]\n const %w: f32[4,4] = random(1)\n"
                                     " const %a: f32[4] = random(2)\n const %b: f32[4] = random(3)\n %p = ") +
                                 heavy +
                                 "\n %y = Add(%p, %a)\n %z = Add(%p, %b)\n %r = Relu(%z)\n output %y\n output %r\n}";
        const int products = count_steps(text, "MatMul") + count_steps(text, "Gemm");
        EXPECT_EQ(products, 1) << text;
    }
}

// G21: integer scalars as outputs keep their value under every pass.
TEST(ScalarOutputs, KeepTheirValue) {
    for (const int64_t value : {0, 1, -1, 7}) {
        const Tensor x = Tensor::scalar(value);
        expect_everywhere(
            "graph { input %x: i64[] const %zero: i64[] = {0} %y = Add(%x, %zero) %z = Mul(%x, %x) "
            "%i = Identity(%x) output %y output %z output %i }",
            {x},
            {{{}, {static_cast<double>(value)}},
             {{}, {static_cast<double>(value * value)}},
             {{}, {static_cast<double>(value)}}},
            0);
    }
}

// G22: hard swish in each spelling, and near misses of it, whatever is switched on.
TEST(HardSwish, IsTheSameInEverySpelling) {
    const Tensor x = ramp({41}, -5, 0.25);
    for (const double limit : {6.0, 5.0})
        for (const char* tail : {"%k = Mul(%x, %c) %y = Div(%k, %six)", "%k = Div(%c, %six) %y = Mul(%k, %x)",
                                 "%k = Mul(%c, %sixth) %y = Mul(%x, %k)", "%k = Mul(%sixth, %x) %y = Mul(%c, %k)"}) {
            const std::vector<double> want =
                numbers(41, [&](int64_t i) { return x.at(i) * std::clamp(x.at(i) + 3, 0.0, limit) / 6; });
            expect_everywhere(
                "graph { input %x: f32[41] const %three: f32[] = {3} const %zero: f32[] = {0} const %top: f32[] = {" +
                    std::to_string(limit) + "} const %six: f32[] = {6} const %sixth: f32[] = {0.16666667} " +
                    "%s = Add(%x, %three) %c = Clip(%s, %zero, %top) " + tail + " output %y }",
                {x}, {{{41}, want}});
        }
}

}  // namespace
}  // namespace headway::testing
