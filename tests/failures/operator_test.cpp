// Public failures of single operators: windows, resizing, padding, indices, recurrent layers. Expected values come from
// plain loops over the definition.
#include <algorithm>
#include <cmath>

#include "everywhere.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

Tensor normal(const Shape& shape, uint64_t seed, double deviation = 1) {
    return random_tensor(ElementType::f32, shape, seed, deviation);
}

// G31: the batch's own statistics, not the stored ones.
TEST(BatchNormalization, OfTrainingIsNotThatOfInference) {
    const Tensor x = normal({2, 3, 4, 4}, 1), mean = f32({3}, {1, 2, 3}), variance = f32({3}, {4, 5, 6});
    const Tensor scale = f32({3}, {1, -2, 3}), shift = f32({3}, {0.5, 0, 1});
    std::vector<double> means(3), variances(3);
    for (int64_t i = 0; i < 96; ++i) means[static_cast<size_t>(i / 16 % 3)] += x.at(i) / 32;
    for (int64_t i = 0; i < 96; ++i)
        variances[static_cast<size_t>(i / 16 % 3)] +=
            std::pow(x.at(i) - means[static_cast<size_t>(i / 16 % 3)], 2) / 32;
    std::vector<double> running_mean, running_variance;
    for (size_t c = 0; c < 3; ++c) {
        running_mean.push_back(mean.at(static_cast<int64_t>(c)) * 0.75 + means[c] * 0.25);
        running_variance.push_back(variance.at(static_cast<int64_t>(c)) * 0.75 + variances[c] * 0.25);
    }
    const NodeCase node{"BatchNormalization",
                        15,
                        {x, scale, shift, mean, variance},
                        {{"training_mode", int64_t{1}}, {"momentum", 0.75F}},
                        3};
    // Either what the definition says, or a plain no: never the inference form.
    const Graph graph = node.graph();
    bool refused = false;
    try {
        build(graph, {}, {}, Target::native(), catalogue());
    } catch (const UserError&) {
        refused = true;
    }
    const auto interpreted = [&] { return interpret(graph, node.given(), catalogue().ops); };
    if (refused) {
        EXPECT_THROW(interpreted(), UserError);
        return;
    }
    const std::vector<double> want = numbers(96, [&](int64_t i) {
        const auto c = static_cast<size_t>(i / 16 % 3);
        return (x.at(i) - means[c]) / std::sqrt(variances[c] + 1e-5) * scale.at(static_cast<int64_t>(c)) +
               shift.at(static_cast<int64_t>(c));
    });
    expect_everywhere(node, {{{2, 3, 4, 4}, want}, {{3}, running_mean}, {{3}, running_variance}});
}

// As ONNX's reference has it: the length of the result that counts is the unrounded one.
double source_position(const std::string& mode, int64_t i, double scale, int64_t in) {
    const auto at = static_cast<double>(i), length = static_cast<double>(in), out = scale * length;
    if (mode == "half_pixel") return (at + 0.5) / scale - 0.5;
    if (mode == "pytorch_half_pixel") return out == 1 ? -0.5 : (at + 0.5) / scale - 0.5;
    if (mode == "align_corners") return out == 1 ? 0 : at * (length - 1) / (out - 1);
    return at / scale;
}

double nearest(const std::string& mode, double at) {
    if (mode == "floor") return std::floor(at);
    if (mode == "ceil") return std::ceil(at);
    const bool tie = at - std::floor(at) == 0.5;
    if (tie) return mode == "round_prefer_floor" ? std::floor(at) : std::ceil(at);
    return std::round(at);
}

// G32: every coordinate mode with linear, every rounding with nearest, over whole and broken factors.
TEST(Resize, FollowsTheCoordinates) {
    for (const double scale : {2.5, 2.0, 3.0, 1.0, 0.6})
        for (const std::string& mode : {std::string("half_pixel"), std::string("pytorch_half_pixel"),
                                        std::string("align_corners"), std::string("asymmetric")}) {
            const int64_t in = 3, out = static_cast<int64_t>(std::floor(3 * static_cast<float>(scale)));
            const Tensor x = normal({1, 2, in, in}, 1),
                         scales = f32({4}, {1, 1, static_cast<float>(scale), static_cast<float>(scale)});
            const bool whole = std::floor(scale) == scale;
            const double factor = scales.at(2);
            const auto pixel = [&](int64_t c, int64_t row, int64_t column) {
                return x.at((c * in + std::clamp<int64_t>(row, 0, in - 1)) * in +
                            std::clamp<int64_t>(column, 0, in - 1));
            };
            const std::vector<double> linear = numbers(2 * out * out, [&](int64_t i) {
                const double row = source_position(mode, i / out % out, factor, in),
                             column = source_position(mode, i % out, factor, in);
                const double r = std::floor(row), c = std::floor(column);
                double sum = 0;
                for (int a = 0; a < 2; ++a)
                    for (int b = 0; b < 2; ++b)
                        sum += (a == 0 ? r + 1 - row : row - r) * (b == 0 ? c + 1 - column : column - c) *
                               pixel(i / out / out, static_cast<int64_t>(r) + a, static_cast<int64_t>(c) + b);
                return sum;
            });
            expect_everywhere(NodeCase{"Resize",
                                       13,
                                       {x, Tensor(), scales},
                                       {{"mode", std::string("linear")}, {"coordinate_transformation_mode", mode}}},
                              {{{1, 2, out, out}, linear}}, 1e-5);
            if (!whole) continue;  // positions half-way between two pixels are only then without rounding errors
            for (const char* rounding : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
                if (mode == "align_corners") continue;
                const std::vector<double> want = numbers(2 * out * out, [&](int64_t i) {
                    return pixel(
                        i / out / out,
                        static_cast<int64_t>(nearest(rounding, source_position(mode, i / out % out, factor, in))),
                        static_cast<int64_t>(nearest(rounding, source_position(mode, i % out, factor, in))));
                });
                // Thirds are not: their source positions are no binary fractions.
                if (scale == 3.0) continue;
                expect_everywhere(NodeCase{"Resize",
                                           13,
                                           {x, Tensor(), scales},
                                           {{"mode", std::string("nearest")},
                                            {"nearest_mode", std::string(rounding)},
                                            {"coordinate_transformation_mode", mode}}},
                                  {{{1, 2, out, out}, want}}, 0);
            }
        }
}

// G33: the extent follows from the region and the scale, or is the one that is given.
TEST(Resize, CropsToItsRegion) {
    const Tensor x = ramp({1, 1, 4, 4}), roi = f32({8}, {0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75});
    for (const int64_t out : {2, 3, 4, 7}) {
        const std::vector<double> want = numbers(out * out, [&](int64_t i) {
            const auto place = [&](int64_t k) {
                return 0.25 * 3 + static_cast<double>(k) * 0.5 * 3 / static_cast<double>(out - 1);
            };
            return 4 * place(i / out) + place(i % out);
        });
        expect_everywhere(NodeCase{"Resize",
                                   13,
                                   {x, roi, Tensor(), i64({1, 1, out, out})},
                                   {{"mode", std::string("linear")},
                                    {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}},
                          {{{1, 1, out, out}, want}}, 1e-5);
    }
    // With scales the extent does not follow from the region, in ONNX's reference as in its runtimes: 4 * 2.
    const std::vector<double> want = numbers(64, [](int64_t i) {
        const auto place = [](int64_t k) { return 0.75 + static_cast<double>(k) * 1.5 / 7; };
        return 4 * place(i / 8) + place(i % 8);
    });
    expect_everywhere(NodeCase{"Resize",
                               13,
                               {x, roi, f32({4}, {1, 1, 2, 2})},
                               {{"mode", std::string("linear")},
                                {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}},
                      {{{1, 1, 8, 8}, want}}, 1e-5);
}

// G34: each of the sixteen taps is clamped to the image by itself.
TEST(GridSample, ClampsEachTapOfTheCubic) {
    const Tensor x = normal({1, 2, 4, 4}, 1);
    const auto weight = [](double d) {
        d = std::abs(d);
        constexpr double a = -0.75;
        if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
        return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0.0;
    };
    for (const double reach : {0.95, 0.5, 1.3})
        for (const bool aligned : {false, true}) {
            const std::vector<float> places{static_cast<float>(-reach),
                                            static_cast<float>(-reach),
                                            static_cast<float>(reach),
                                            static_cast<float>(-reach),
                                            0,
                                            static_cast<float>(reach),
                                            static_cast<float>(reach),
                                            static_cast<float>(reach)};
            const Tensor grid = f32({1, 2, 2, 2}, places);
            const std::vector<double> want = numbers(8, [&](int64_t i) {
                const auto place = [&](int64_t k) {
                    const double value = grid.at(i % 4 * 2 + k);
                    return aligned ? (value + 1) / 2 * 3 : ((value + 1) * 4 - 1) / 2;
                };
                const double column = place(0), row = place(1);
                double sum = 0;
                for (int64_t r = -1; r < 3; ++r)
                    for (int64_t c = -1; c < 3; ++c) {
                        const auto at_row = static_cast<int64_t>(std::floor(row)) + r,
                                   at_column = static_cast<int64_t>(std::floor(column)) + c;
                        sum += weight(row - static_cast<double>(at_row)) *
                               weight(column - static_cast<double>(at_column)) *
                               x.at((i / 4 * 4 + std::clamp<int64_t>(at_row, 0, 3)) * 4 +
                                    std::clamp<int64_t>(at_column, 0, 3));
                    }
                return sum;
            });
            expect_everywhere(NodeCase{"GridSample",
                                       16,
                                       {x, grid},
                                       {{"mode", std::string("bicubic")},
                                        {"padding_mode", std::string("border")},
                                        {"align_corners", int64_t{aligned ? 1 : 0}}},
                                       1,
                                       2},
                              {{{1, 2, 2, 2}, want}}, 1e-5);
        }
}

// G35: no window lies wholly in the end padding, and the divisor counts no cell beyond the padding.
TEST(CeilMode, CountsOnlyWindowsThatStartInside) {
    for (const int64_t length : {5, 8, 16, 17, 18})
        for (const int64_t kernel : {2, 3})
            for (const int64_t stride : {2, 3})
                for (const int64_t pad : {0, 1}) {
                    int64_t out = (length + 2 * pad - kernel + stride - 1) / stride + 1;
                    if ((out - 1) * stride >= length + pad) --out;
                    const Tensor x = normal({1, 3, length}, 1);
                    const NamedAttributes common{{"kernel_shape", ints({kernel})},
                                                 {"strides", ints({stride})},
                                                 {"pads", ints({pad, pad})},
                                                 {"ceil_mode", int64_t{1}}};
                    const auto windows = [&](bool mean, bool counts) {
                        return numbers(3 * out, [&, mean, counts](int64_t i) {
                            const int64_t begin = i % out * stride - pad, end = begin + kernel;
                            double sum = 0, most = -HUGE_VAL;
                            int64_t cells = 0;
                            for (int64_t k = begin; k < end; ++k) {
                                if (k < 0 || k >= length) continue;
                                sum += x.at(i / out * length + k), most = std::max(most, x.at(i / out * length + k));
                                ++cells;
                            }
                            if (counts) cells = std::min(end, length + pad) - begin;
                            return mean ? sum / static_cast<double>(cells) : most;
                        });
                    };
                    expect_everywhere(NodeCase{"MaxPool", 12, {x}, common}, {{{1, 3, out}, windows(false, false)}}, 0);
                    for (const int64_t counts : {0, 1}) {
                        NamedAttributes attributes = common;
                        attributes.emplace_back("count_include_pad", counts);
                        expect_everywhere(NodeCase{"AveragePool", 19, {x}, attributes},
                                          {{{1, 3, out}, windows(true, counts != 0)}});
                    }
                }
}

// G36: one image scattered by stride and dilation; what SAME and output_padding cut off or add.
TEST(ConvTranspose, ScattersByItsDefinition) {
    struct Case {
        std::string auto_pad;
        int64_t kernel, stride, dilation, begin, end, extra;
    };
    for (const int64_t group : {1, 2})
        for (const Case& one :
             {Case{"SAME_UPPER", 3, 2, 1, 0, 0, 0}, Case{"SAME_LOWER", 3, 2, 1, 0, 0, 0},
              Case{"SAME_UPPER", 2, 2, 1, 0, 0, 0}, Case{"NOTSET", 3, 2, 1, 1, 1, 1}, Case{"NOTSET", 3, 2, 2, 0, 0, 0},
              Case{"NOTSET", 3, 2, 2, 1, 2, 1}, Case{"NOTSET", 2, 3, 1, 0, 0, 2}, Case{"VALID", 3, 1, 1, 0, 0, 0}}) {
            const int64_t in = 4, channels = 4, part = 3, reach = (one.kernel - 1) * one.dilation + 1;
            int64_t out = one.stride * (in - 1) + one.extra + reach - one.begin - one.end, begin = one.begin;
            if (one.auto_pad.starts_with("SAME")) {
                const int64_t cut = one.stride * (in - 1) + reach - in * one.stride;
                out = in * one.stride;
                begin = one.auto_pad == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
            }
            const Tensor x = normal({1, channels, in, in}, 1),
                         w = normal({channels, part, one.kernel, one.kernel}, 2, 0.5);
            std::vector<double> want(static_cast<size_t>(group * part * out * out), 0);
            for (int64_t c = 0; c < channels; ++c)
                for (int64_t o = 0; o < part; ++o)
                    for (int64_t p = 0; p < in * in; ++p)
                        for (int64_t k = 0; k < one.kernel * one.kernel; ++k) {
                            const int64_t row = p / in * one.stride + k / one.kernel * one.dilation - begin;
                            const int64_t column = p % in * one.stride + k % one.kernel * one.dilation - begin;
                            if (row < 0 || row >= out || column < 0 || column >= out) continue;
                            const int64_t channel = c / (channels / group) * part + o;
                            want[static_cast<size_t>((channel * out + row) * out + column)] +=
                                x.at(c * in * in + p) * w.at((c * part + o) * one.kernel * one.kernel + k);
                        }
            NamedAttributes attributes{{"strides", ints({one.stride, one.stride})},
                                       {"dilations", ints({one.dilation, one.dilation})},
                                       {"group", group}};
            if (one.auto_pad != "NOTSET")
                attributes.emplace_back("auto_pad", one.auto_pad);
            else
                attributes.emplace_back("pads", ints({one.begin, one.begin, one.end, one.end}));
            if (one.extra > 0) attributes.emplace_back("output_padding", ints({one.extra, one.extra}));
            expect_everywhere(NodeCase{"ConvTranspose", 11, {x, w}, attributes}, {{{1, group * part, out, out}, want}});
        }
}

// G37, G38: pads larger than the axis go round or back and forth as often as needed.
TEST(Pad, WrapsAndReflectsAsOftenAsNeeded) {
    for (const std::string& mode :
         {std::string("wrap"), std::string("reflect"), std::string("edge"), std::string("constant")})
        for (const int64_t extent : {2, 3, 5})
            for (const int64_t begin : {0, 1, 5, 7})
                for (const int64_t end : {0, 2, 6}) {
                    const Tensor x = ramp({2, extent}, 1);
                    const int64_t out = extent + begin + end;
                    const std::vector<double> want = numbers(2 * out, [&](int64_t i) {
                        int64_t at = i % out - begin;
                        const bool inside = at >= 0 && at < extent;
                        if (mode == "constant" && !inside) return 0.0;
                        if (mode == "edge") at = std::clamp<int64_t>(at, 0, extent - 1);
                        if (mode == "wrap") at = (at % extent + extent) % extent;
                        while (mode == "reflect" && (at < 0 || at >= extent)) at = at < 0 ? -at : 2 * (extent - 1) - at;
                        return x.at(i / out * extent + at);
                    });
                    expect_everywhere(NodeCase{"Pad", 19, {x, i64({0, begin, 0, end})}, {{"mode", mode}}},
                                      {{{2, out}, want}}, 0);
                }
}

// G39, G49: axes that are absent or empty, with and without noop_with_empty_axes, and on scalars: the part of the
// operation that works element by element stays.
TEST(Reduction, WithoutAxes) {
    const Tensor x = f32({2, 2}, {-1, 2, -3, 0.5});
    struct Case {
        const char* op;
        std::function<double(double)> each;
        double all;
    };
    const double sum = -1.5, squares = 1 + 4 + 9 + 0.25;
    for (const Case& one :
         {Case{"ReduceSum", [](double v) { return v; }, sum}, Case{"ReduceMean", [](double v) { return v; }, sum / 4},
          Case{"ReduceMax", [](double v) { return v; }, 2}, Case{"ReduceMin", [](double v) { return v; }, -3},
          Case{"ReduceProd", [](double v) { return v; }, 3},
          Case{"ReduceL1", [](double v) { return std::abs(v); }, 6.5},
          Case{"ReduceL2", [](double v) { return std::abs(v); }, std::sqrt(squares)},
          Case{"ReduceSumSquare", [](double v) { return v * v; }, squares},
          Case{"ReduceLogSumExp", [](double v) { return v; },
               std::log(std::exp(-1.) + std::exp(2.) + std::exp(-3.) + std::exp(.5))}}) {
        const std::vector<double> kept = numbers(4, [&](int64_t i) { return one.each(x.at(i)); });
        for (const bool empty : {false, true}) {
            std::vector<Tensor> inputs{x};
            if (empty) inputs.push_back(i64(std::vector<int64_t>{}));
            expect_everywhere(NodeCase{one.op, 20, inputs, {{"noop_with_empty_axes", int64_t{1}}}}, {{{2, 2}, kept}});
            expect_everywhere(NodeCase{one.op, 20, inputs, {{"noop_with_empty_axes", int64_t{0}}}},
                              {{{1, 1}, {one.all}}});
            expect_everywhere(NodeCase{one.op, 20, inputs, {{"keepdims", int64_t{0}}}}, {{{}, {one.all}}});
        }
        const Tensor scalar = f32({}, {-3});
        expect_everywhere(NodeCase{one.op, 20, {scalar}}, {{{}, {one.each(-3)}}});
        expect_everywhere(NodeCase{one.op, 13, {scalar}, {{"keepdims", int64_t{0}}}}, {{{}, {one.each(-3)}}});
    }
}

// G49, second half.
TEST(Transpose, RefusesAnOrderOfAnotherLength) {
    for (const char* perm : {"[1,0]", "[0,1,2,3]", "[0,0,1]", "[0,1,5]"})
        expect_refused(
            std::string("graph { input %x: f32[2,3,4] %y = Transpose(%x) {perm=") + perm + "} @\"turn\" output %y }",
            {ramp({2, 3, 4})}, {"turn"});
    expect_everywhere(NodeCase{"Transpose", 13, {f32({}, {3})}}, {{{}, {3}}}, 0);
    expect_everywhere(NodeCase{"Transpose", 13, {ramp({2, 3})}}, {{{3, 2}, {0, 3, 1, 4, 2, 5}}}, 0);
}

// G47: a negative index counts from the end, once; beyond that it is an error.
TEST(NegativeIndices, CountFromTheEndOnce) {
    const Tensor x = ramp({3, 4});
    for (const int64_t axis : {0, 1, -1})
        for (const int64_t index : {-1, -3, -2, 0}) {
            const bool rows = axis == 0;
            const int64_t at = index < 0 ? index + (rows ? 3 : 4) : index;
            const std::vector<double> want =
                rows ? numbers(4, [&](int64_t i) { return static_cast<double>(at * 4 + i); })
                     : numbers(3, [&](int64_t i) { return static_cast<double>(i * 4 + at); });
            const Shape result = rows ? Shape{4} : Shape{3};
            for (const size_t at_run_time : {1, 2})
                expect_everywhere(NodeCase{"Gather", 13, {x, i64(Shape{}, {index})}, {{"axis", axis}}, 1, at_run_time},
                                  {{result, want}}, 0);
        }
    expect_everywhere(NodeCase{"GatherElements", 13, {x, i64({3, 1}, {-1, -4, 0})}, {{"axis", int64_t{1}}}},
                      {{{3, 1}, {3, 4, 8}}}, 0);
    expect_everywhere(NodeCase{"GatherND", 13, {x, i64({2, 2}, {-1, -1, 0, -4})}}, {{{2}, {11, 0}}}, 0);
    expect_everywhere(NodeCase{"ScatterElements", 13, {ramp({3}), i64({2}, {-1, -3}), f32({2}, {7, 8})}, {}, 1, 3},
                      {{{3}, {8, 1, 7}}}, 0);
    expect_everywhere(NodeCase{"ScatterND", 13, {ramp({3}), i64({2, 1}, {-1, -3}), f32({2}, {7, 8})}, {}, 1, 3},
                      {{{3}, {8, 1, 7}}}, 0);
    for (const int64_t index : {int64_t{3}, int64_t{-4}, int64_t{1} << 40, -(int64_t{1} << 40)})
        EXPECT_THROW(run_op("Gather", 13, {x, i64(Shape{}, {index})}), UserError) << index;
}

// G48: both directions with other lengths than the longest, both places of the reset gate.
TEST(Gru, KeepsToTheLengthsOfItsSequences) {
    const int64_t steps = 3, batch = 2, width = 2, hidden = 3;
    for (const int64_t linear : {0, 1})
        for (const std::string& direction :
             {std::string("forward"), std::string("reverse"), std::string("bidirectional")}) {
            const int64_t directions = direction == "bidirectional" ? 2 : 1;
            const Tensor x = normal({steps, batch, width}, 1), w = normal({directions, 3 * hidden, width}, 2, 0.5);
            const Tensor r = normal({directions, 3 * hidden, hidden}, 3, 0.5),
                         b = normal({directions, 6 * hidden}, 4, 0.5);
            const Tensor lengths = of_type(ElementType::i32, {batch}, {3, 1}),
                         start = normal({directions, batch, hidden}, 5);
            std::vector<double> y(static_cast<size_t>(steps * directions * batch * hidden), 0), last;
            const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
            for (int64_t d = 0; d < directions; ++d)
                for (int64_t n = 0; n < batch; ++n) {
                    std::vector<double> h =
                        numbers(hidden, [&](int64_t i) { return start.at((d * batch + n) * hidden + i); });
                    const int64_t length = n == 0 ? 3 : 1;
                    for (int64_t step = 0; step < length; ++step) {
                        const int64_t t = direction == "reverse" || d == 1 ? length - 1 - step : step;
                        const auto input = [&](int64_t gate, int64_t i) {
                            double sum = b.at(d * 6 * hidden + gate * hidden + i);
                            for (int64_t k = 0; k < width; ++k)
                                sum += w.at((d * 3 * hidden + gate * hidden + i) * width + k) *
                                       x.at((t * batch + n) * width + k);
                            return sum;
                        };
                        const auto recurrent = [&](int64_t gate, int64_t i, const std::vector<double>& state) {
                            double sum = b.at(d * 6 * hidden + (3 + gate) * hidden + i);
                            for (int64_t k = 0; k < hidden; ++k)
                                sum += r.at((d * 3 * hidden + gate * hidden + i) * hidden + k) *
                                       state[static_cast<size_t>(k)];
                            return sum;
                        };
                        std::vector<double> reset(static_cast<size_t>(hidden)), masked(static_cast<size_t>(hidden)),
                            next(static_cast<size_t>(hidden));
                        for (int64_t i = 0; i < hidden; ++i) {
                            const auto at = static_cast<size_t>(i);
                            reset[at] = sigmoid(input(1, i) + recurrent(1, i, h));
                            masked[at] = reset[at] * h[at];
                        }
                        for (int64_t i = 0; i < hidden; ++i) {
                            const auto at = static_cast<size_t>(i);
                            const double update = sigmoid(input(0, i) + recurrent(0, i, h));
                            const double fresh = std::tanh(
                                input(2, i) + (linear != 0 ? reset[at] * recurrent(2, i, h) : recurrent(2, i, masked)));
                            next[at] = (1 - update) * fresh + update * h[at];
                        }
                        h = next;
                        for (int64_t i = 0; i < hidden; ++i)
                            y[static_cast<size_t>(((t * directions + d) * batch + n) * hidden + i)] =
                                h[static_cast<size_t>(i)];
                    }
                    last.insert(last.end(), h.begin(), h.end());
                }
            expect_everywhere(
                NodeCase{"GRU",
                         14,
                         {x, w, r, b, lengths, start},
                         {{"hidden_size", hidden}, {"direction", direction}, {"linear_before_reset", linear}},
                         2},
                {{{steps, directions, batch, hidden}, y}, {{directions, batch, hidden}, last}});
        }
}

}  // namespace
}  // namespace headway::testing
