// Public failures of precision: Winograd on data of a wide range and at the edges of its tiles, sums in half precision,
// formats that nobody asked for.
#include <cmath>

#include "everywhere.h"
#include "graph/text.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

// The convolution by 3x3 with a border of one, and the same of absolute values, which bounds what rounding may do.
void convolved(const Tensor& x, const Tensor& w, std::vector<double>& sums, std::vector<double>& sizes) {
    const int64_t in = x.shape()[1], rows = x.shape()[2], columns = x.shape()[3], out = w.shape()[0];
    for (int64_t o = 0; o < out; ++o)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c) {
                double sum = 0, size = 0;
                for (int64_t k = 0; k < in; ++k)
                    for (int64_t t = 0; t < 9; ++t) {
                        const int64_t row = r + t / 3 - 1, column = c + t % 3 - 1;
                        if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
                        const double term = x.at((k * rows + row) * columns + column) * w.at((o * in + k) * 9 + t);
                        sum += term, size += std::abs(term);
                    }
                sums.push_back(sum);
                sizes.push_back(size);
            }
}

// G61: every algorithm, extents that are no multiples of a tile, values of one size and values from 1e-4 to 1e4.
TEST(ConvAlgorithms, KeepTheirErrorOnWideData) {
    for (const int64_t extent : {3, 4, 5, 7, 8, 13})
        for (const bool wide : {false, true}) {
            const int64_t in = 17, out = 24;
            Tensor x = random_tensor(ElementType::f32, {1, in, extent, extent + 2}, 1),
                   w = random_tensor(ElementType::f32, {out, in, 3, 3}, 2, 0.1);
            for (int64_t i = 0; wide && i < x.elements(); ++i)
                x.set(i, x.at(i) * std::pow(10.0, static_cast<double>(i * 7 % 9) - 4));
            std::vector<double> sums, sizes;
            convolved(x, w, sums, sizes);
            double largest = 0;
            for (double size : sizes) largest = std::max(largest, size);
            Graph graph =
                parse_graph("graph { input %x: f32[1,17," + std::to_string(extent) + "," + std::to_string(extent + 2) +
                            "] input %w: f32[24,17,3,3] %y = Conv(%x, %w) {pads=[1,1,1,1]} output %y }");
            graph.value(graph.inputs[1]).constant = w;
            graph.inputs.resize(1);
            const KnobBase& algorithm = *catalogue().knobs.find("conv.algorithm");
            for (const Target& target : every_target())
                for (const std::string& value : algorithm.values()) {
                    SCOPED_TRACE(std::string(to_string(target.isa)) + " " + value + " extent " +
                                 std::to_string(extent));
                    const Plan plan = build(graph, {}, Route().with(algorithm, value), target, catalogue()).plan;
                    const Tensor y = run_engine(plan, target, {x})[0];
                    // Direct sums err by the terms of their own; Winograd, which may be chosen where another algorithm
                    // does not apply, mixes the terms of a whole tile.
                    const bool mixes = std::ranges::any_of(
                        plan.steps, [](const Step& step) { return step.kernel.find("winograd") != std::string::npos; });
                    for (int64_t i = 0; i < y.elements(); ++i) {
                        const double size = mixes ? largest : sizes[static_cast<size_t>(i)];
                        ASSERT_LE(std::abs(y.at(i) - sums[static_cast<size_t>(i)]), (mixes ? 8e-6 : 2e-6) * size + 1e-9)
                            << "element " << i;
                    }
                }
        }
}

// G62: rows of about 300 in f16, whose squares do not fit f16.
TEST(LayerNormalization, OfHalvesSumsInMore) {
    for (const ElementType type : {ElementType::f16, ElementType::bf16})
        for (const int64_t width : {4, 100, 1024}) {
            Tensor x(type, {2, width});
            for (int64_t i = 0; i < x.elements(); ++i) x.set(i, 300 + 16 * static_cast<double>(i * 7 % 5));
            const Tensor scale = of_type(type, {width}, std::vector<double>(static_cast<size_t>(width), 1));
            std::vector<double> want;
            for (int64_t row = 0; row < 2; ++row) {
                double mean = 0, variance = 0;
                for (int64_t k = 0; k < width; ++k) mean += x.at(row * width + k) / static_cast<double>(width);
                for (int64_t k = 0; k < width; ++k)
                    variance += std::pow(x.at(row * width + k) - mean, 2) / static_cast<double>(width);
                for (int64_t k = 0; k < width; ++k)
                    want.push_back((x.at(row * width + k) - mean) / std::sqrt(variance + 1e-5));
            }
            const double rounding = type == ElementType::f16 ? 0x1p-10 : 0x1p-7;
            expect_everywhere(NodeCase{"LayerNormalization", 17, {x, scale}}, {{{2, width}, want}}, rounding);
            // Spelled out, each node rounds to the type, but no square may overflow: the differences are small.
            expect_everywhere(NodeCase{"ReduceMean", 13, {x}, {{"axes", ints({1})}}},
                              {{{2, 1},
                                numbers(2,
                                        [&](int64_t row) {
                                            double mean = 0;
                                            for (int64_t k = 0; k < width; ++k)
                                                mean += x.at(row * width + k) / static_cast<double>(width);
                                            return mean;
                                        })}},
                              rounding);
        }
}

// G63: products that need all 24 bits of a float: no default engine rounds operands to a narrower format.
TEST(DefaultEngines, ComputeInTheTypeOfTheModel) {
    const double fine = 1 + 0x1p-12;  // lost in bf16, f16 and tf32
    for (const int64_t depth : {16, 64}) {
        const Tensor a =
            of_type(ElementType::f32, {8, depth}, std::vector<double>(static_cast<size_t>(8 * depth), fine));
        const Tensor b =
            of_type(ElementType::f32, {depth, 16}, std::vector<double>(static_cast<size_t>(depth * 16), fine));
        const std::vector<double> want(128, fine * fine * static_cast<double>(depth));
        for (const size_t at_run_time : {1, 2})
            expect_everywhere(NodeCase{"MatMul", 13, {a, b}, {}, 1, at_run_time}, {{{8, 16}, want}}, 1e-6);
        const Tensor image =
            of_type(ElementType::f32, {1, depth, 4, 4}, std::vector<double>(static_cast<size_t>(16 * depth), fine));
        const Tensor weights =
            of_type(ElementType::f32, {16, depth, 1, 1}, std::vector<double>(static_cast<size_t>(16 * depth), fine));
        expect_everywhere(NodeCase{"Conv", 11, {image, weights}}, {{{1, 16, 4, 4}, std::vector<double>(256, want[0])}},
                          1e-6);
    }
}

}  // namespace
}  // namespace headway::testing
