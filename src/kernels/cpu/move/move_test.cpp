// Concat, Split, Slice, Pad, Expand, Tile and Reshape against index arithmetic.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/cpu/move/byte_moves.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

using Index = std::vector<int64_t>;
constexpr Layout every_layout[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

template <class T>
std::vector<T> counted(int64_t count, int seed = 1) {
    std::vector<T> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<int>(i) * 7 + seed);
    return values;
}

int64_t plain_offset(const Shape& shape, const Index& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset = offset * shape[i] + index[i];
    return offset;
}

// What a dst holds when its element at `index` is given by `source`.
template <class T>
std::vector<T> built(const Shape& dst, const std::function<T(const Index&)>& source) {
    std::vector<T> values;
    testing::for_each_index(dst, [&](const Index& index, int64_t) { values.push_back(source(index)); });
    return values;
}

template <class T>
void check_concat(const Shape& like, size_t axis, const std::vector<int64_t>& extents, Layout layout,
                  Layout first_layout, bool constant_first = false) {
    testing::KernelCase test;
    test.problem.op = "Concat";
    test.problem.attributes.set("axis", static_cast<int64_t>(axis));
    Shape whole = like;
    whole[axis] = 0;
    std::vector<std::vector<T>> parts;
    std::vector<Shape> shapes;
    for (size_t k = 0; k < extents.size(); ++k) {
        Shape shape = like;
        shape[axis] = extents[k];
        whole[axis] += extents[k];
        parts.push_back(counted<T>(shape.elements(), static_cast<int>(k) * 1000 + 1));
        shapes.push_back(shape);
        test.add_src({element_type_of<T>(), shape, k == 0 ? first_layout : layout}, parts.back(),
                     k == 0 && first_layout == Layout::plain && constant_first);
    }
    test.problem.dst = {{element_type_of<T>(), whole, layout}};
    testing::expect_all<T>(test, built<T>(whole, [&](Index index) {
                               size_t k = 0;
                               while (index[axis] >= extents[k]) index[axis] -= extents[k++];
                               return parts[k][static_cast<size_t>(plain_offset(shapes[k], index))];
                           }));
}

TEST(Concat, EveryAxisAndLayout) {
    for (Layout layout : every_layout)
        for (Layout first : {layout, Layout::plain})
            for (size_t axis : {0, 1, 2, 3}) check_concat<float>({2, 20, 3, 5}, axis, {7, 16, 0, 9}, layout, first);
    check_concat<float>({2, 20, 3, 5}, 1, {7, 16, 0, 9}, Layout::nhwc, Layout::plain, true);
    check_concat<float>({1, 0, 4, 4}, 1, {8, 16}, Layout::nchw8c, Layout::nchw8c);
    check_concat<int64_t>({3}, 0, {2, 1, 5}, Layout::plain, Layout::plain);
    check_concat<uint8_t>({3, 4}, 1, {2, 1, 5}, Layout::plain, Layout::plain);
}

TEST(Split, EveryAxisAndLayout) {
    for (Layout layout : every_layout)
        for (size_t axis : {0, 1, 2, 3}) {
            Shape whole{2, 20, 6, 5};
            whole[axis] = 25;
            const std::vector<float> values = counted<float>(whole.elements());
            testing::KernelCase test;
            test.problem.op = "Split";
            test.problem.attributes.set("axis", static_cast<int64_t>(axis) - 4);
            test.add_src(testing::f32(whole, layout), values);
            for (int64_t extent : {16, 9}) {
                test.problem.dst.push_back(testing::f32(whole, layout));
                test.problem.dst.back().shape[axis] = extent;
            }
            for (size_t k : {0, 1})
                testing::expect_all<float>(
                    test,
                    built<float>(test.problem.dst[k].shape,
                                 [&](Index index) {
                                     index[axis] += k == 0 ? 0 : 16;
                                     return values[static_cast<size_t>(plain_offset(whole, index))];
                                 }),
                    k);
        }
}

void check_slice(const Shape& shape, const Index& axes, const Index& starts, const Index& steps, const Shape& result,
                 Layout layout) {
    const std::vector<float> values = counted<float>(shape.elements());
    testing::KernelCase test;
    test.problem.op = "Slice";
    test.add_src(testing::f32(shape, layout), values);
    const auto count = static_cast<int64_t>(axes.size());
    const TensorDesc bounds{ElementType::i64, {count}, Layout::plain};
    const Index unused(axes.size(), 0);
    const std::vector<const Index*> inputs{&starts, &unused, &axes, &steps};
    std::vector<Tensor> tensors;
    for (const Index* input : inputs) {
        test.add_src(bounds, *input, true);
        tensors.push_back(Tensor::of<int64_t>({count}, *input));
    }
    std::vector<const Tensor*> constants{nullptr};
    for (const Tensor& tensor : tensors) constants.push_back(&tensor);
    give_constants(test.problem, constants);
    test.problem.dst = {testing::f32(result, layout)};
    testing::expect_all<float>(
        test, built<float>(result, [&](Index index) {
            for (size_t i = 0; i < axes.size(); ++i) {
                const auto axis =
                    static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(shape.rank()) : axes[i]);
                const int64_t start = starts[i] < 0 ? std::max<int64_t>(starts[i] + shape[axis], 0)
                                                    : std::min(starts[i], shape[axis] - (steps[i] < 0 ? 1 : 0));
                index[axis] = start + index[axis] * steps[i];
            }
            return values[static_cast<size_t>(plain_offset(shape, index))];
        }));
}

TEST(Slice, StartsStepsAndLayouts) {
    for (Layout layout : every_layout) {
        check_slice({2, 20, 6, 9}, {1}, {3}, {1}, {2, 9, 6, 9}, layout);
        check_slice({2, 20, 6, 9}, {1, 3}, {8, 1}, {1, 2}, {2, 8, 6, 4}, layout);
        check_slice({2, 20, 6, 9}, {-1, 2}, {1000, -100}, {-1, 3}, {2, 20, 2, 9}, layout);
        check_slice({2, 20, 6, 9}, {0}, {2}, {1}, {0, 20, 6, 9}, layout);
    }
    check_slice({10}, {0}, {-1}, {-3}, {4}, Layout::plain);
    check_slice({4, 10}, {1, 0}, {2, 1}, {2, 2}, {2, 4}, Layout::plain);
}

TEST(Slice, NeedsKnownBounds) {
    Problem problem;
    problem.op = "Slice";
    problem.src = {testing::f32({4}), TensorDesc{ElementType::i64, {1}, Layout::plain},
                   TensorDesc{ElementType::i64, {1}, Layout::plain}};
    problem.constant = {false, false, false};
    problem.dst = {testing::f32({2})};
    EXPECT_EQ(testing::kernels_for("Slice").front()->supports(problem, Target::native(), {}).reason,
              Reason::needs_constant);
}

int64_t padded_source(int64_t at, int64_t extent, const std::string& mode) {
    if (mode == "edge") return std::clamp<int64_t>(at, 0, extent - 1);
    if (mode == "reflect") return at < 0 ? -at : at >= extent ? 2 * extent - 2 - at : at;
    return at;
}

void check_pad(const Shape& shape, const Index& pads, const std::string& mode, Layout layout) {
    const std::vector<float> values = counted<float>(shape.elements());
    const size_t rank = shape.rank();
    Shape result = shape;
    for (size_t i = 0; i < rank; ++i) result[i] += pads[i] + pads[i + rank];
    testing::KernelCase test;
    test.problem.op = "Pad";
    test.problem.attributes.set("mode", mode);
    test.problem.attributes.set("pads", pads);
    test.problem.attributes.set("value", 2.5F);
    test.add_src(testing::f32(shape, layout), values);
    test.problem.dst = {testing::f32(result, layout)};
    testing::expect_all<float>(test, built<float>(result, [&](Index index) {
                                   bool outside = false;
                                   for (size_t i = 0; i < rank; ++i) {
                                       index[i] = padded_source(index[i] - pads[i], shape[i], mode);
                                       outside = outside || index[i] < 0 || index[i] >= shape[i];
                                   }
                                   return outside ? 2.5F : values[static_cast<size_t>(plain_offset(shape, index))];
                               }));
}

TEST(Pad, ModesAndLayouts) {
    for (Layout layout : every_layout) {
        for (const char* mode : {"constant", "reflect", "edge"})
            check_pad({2, 19, 5, 6}, {0, 0, 1, 2, 0, 0, 3, 4}, mode, layout);
        check_pad({1, 9, 5, 6}, {1, 3, 0, 2, 0, 8, 1, 0}, "constant", layout);
        check_pad({2, 9, 5, 6}, {0, 0, -1, 0, 0, 0, 2, -3}, "constant", layout);
    }
    check_pad({1, 576}, {0, 0, 0, 64}, "reflect", Layout::plain);
    check_pad({3, 4}, {2, 1, 1, 3}, "edge", Layout::plain);
    check_pad({3, 4}, {2, 1, 1, 3}, "reflect", Layout::plain);
}

TEST(Expand, BroadcastsLikeOnnx) {
    const auto check = [](const Shape& from, const Shape& to, Layout layout) {
        const std::vector<float> values = counted<float>(from.elements());
        testing::KernelCase test;
        test.problem.op = "Expand";
        test.add_src(testing::f32(from, layout), values);
        test.problem.dst = {testing::f32(to, layout)};
        testing::expect_all<float>(test, built<float>(to, [&](const Index& index) {
                                       Index source(index.end() - static_cast<ptrdiff_t>(from.rank()), index.end());
                                       for (size_t i = 0; i < from.rank(); ++i)
                                           source[i] = from[i] == 1 ? 0 : source[i];
                                       return values[static_cast<size_t>(plain_offset(from, source))];
                                   }));
    };
    check({3, 1}, {2, 3, 4}, Layout::plain);
    check({}, {2, 3}, Layout::plain);
    check({1}, {0}, Layout::plain);
    check({2, 1, 5}, {2, 7, 5}, Layout::plain);
    for (Layout layout : every_layout) {
        check({2, 20, 1, 1}, {2, 20, 3, 4}, layout);
        check({1, 1, 3, 4}, {2, 20, 3, 4}, layout);
    }
}

TEST(Tile, RepeatsEveryAxis) {
    const Shape from{2, 3, 4}, to{4, 3, 12};
    const std::vector<float> values = counted<float>(from.elements());
    testing::KernelCase test;
    test.problem.op = "Tile";
    test.add_src(testing::f32(from), values);
    test.problem.dst = {testing::f32(to)};
    testing::expect_all<float>(test, built<float>(to, [&](Index index) {
                                   for (size_t i = 0; i < 3; ++i) index[i] %= from[i];
                                   return values[static_cast<size_t>(plain_offset(from, index))];
                               }));
}

template <class T>
testing::KernelCase gather_case(const Shape& shape, int64_t axis, const Shape& indices_shape,
                                const std::vector<T>& indices, bool constant) {
    testing::KernelCase test;
    test.problem.op = "Gather";
    test.problem.attributes.set("axis", axis);
    test.add_src(testing::f32(shape), counted<float>(shape.elements()));
    test.add_src({element_type_of<T>(), indices_shape, Layout::plain}, indices, constant);
    const int64_t at = axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis;
    Index dims(shape.begin(), shape.begin() + at);
    dims.insert(dims.end(), indices_shape.begin(), indices_shape.end());
    dims.insert(dims.end(), shape.begin() + at + 1, shape.end());
    test.problem.dst = {testing::f32(Shape(dims))};
    return test;
}

template <class T>
void check_gather(const Shape& shape, int64_t axis, const Shape& indices_shape, const std::vector<T>& indices,
                  bool constant) {
    const testing::KernelCase test = gather_case(shape, axis, indices_shape, indices, constant);
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis);
    const std::vector<float> values = counted<float>(shape.elements());
    testing::expect_all<float>(
        test, built<float>(test.problem.dst[0].shape, [&](const Index& index) {
            Index source(index.begin(), index.begin() + static_cast<ptrdiff_t>(at));
            const Index place(index.begin() + static_cast<ptrdiff_t>(at),
                              index.begin() + static_cast<ptrdiff_t>(at + indices_shape.rank()));
            const auto picked = static_cast<int64_t>(indices[static_cast<size_t>(plain_offset(indices_shape, place))]);
            source.push_back(picked < 0 ? picked + shape[at] : picked);
            source.insert(source.end(), index.begin() + static_cast<ptrdiff_t>(at + indices_shape.rank()), index.end());
            return values[static_cast<size_t>(plain_offset(shape, source))];
        }));
}

TEST(Gather, AxesAndIndices) {
    check_gather<int64_t>({2, 1, 128}, 0, {}, {1}, true);
    check_gather<int64_t>({30, 17}, 0, {2, 3}, {0, 29, -1, 4, 4, -30}, false);
    check_gather<int32_t>({5, 6, 7}, -1, {4}, {6, 0, -7, 3}, false);
    check_gather<int64_t>({5, 6, 7}, 1, {0}, {}, false);
}

TEST(Gather, IndicesOutsideAreTheUsersFault) {
    for (int64_t index : {3, -4}) {
        const testing::KernelCase test = gather_case<int64_t>({3, 2}, 0, {1}, {index}, false);
        EXPECT_THROW(testing::run_kernel<float>(*testing::kernels_for("Gather").front(), test), UserError);
    }
}

TEST(Reshape, CopiesBytes) {
    const std::vector<int64_t> values = counted<int64_t>(24);
    testing::KernelCase test;
    test.problem.op = "Reshape";
    test.add_src({ElementType::i64, {2, 12}, Layout::plain}, values);
    test.problem.dst = {{ElementType::i64, {4, 6}, Layout::plain}};
    testing::expect_all<int64_t>(test, values);
}

std::vector<Index> moves_of(const std::string& op, int64_t axis, const std::vector<TensorDesc>& src,
                            const std::vector<TensorDesc>& dst) {
    Problem problem;
    problem.op = op;
    problem.attributes.set("axis", axis);
    problem.src = {src.begin(), src.end()};
    problem.constant.assign(src.size(), false);
    problem.dst = dst;
    std::vector<Index> moves;
    for (const ByteMove& move : byte_moves(problem))
        moves.push_back(
            {static_cast<int64_t>(move.src), static_cast<int64_t>(move.dst), move.src_at, move.dst_at, move.bytes});
    return moves;
}

TEST(ByteMoves, AreRunsOfBothSides) {
    using testing::f32;
    const std::vector<Index> none;
    EXPECT_EQ(moves_of("Concat", 1, {f32({1, 3, 5}), f32({1, 0, 5}), f32({1, 2, 5})}, {f32({1, 5, 5})}),
              (std::vector<Index>{{0, 0, 0, 0, 60}, {2, 0, 0, 60, 40}}));
    EXPECT_EQ(moves_of("Concat", 1, {f32({2, 3, 5}), f32({2, 2, 5})}, {f32({2, 5, 5})}), none);
    EXPECT_EQ(moves_of("Split", 0, {f32({5, 2})}, {f32({1, 2}), f32({4, 2})}),
              (std::vector<Index>{{0, 0, 0, 0, 8}, {0, 1, 8, 0, 32}}));
    EXPECT_EQ(moves_of("Split", 1, {f32({5, 2})}, {f32({5, 1}), f32({5, 1})}), none);
    for (const Layout blocked : {Layout::nchw8c, Layout::nchw16c}) {
        const int64_t block = channel_block(blocked);
        EXPECT_EQ(moves_of("Concat", 1, {f32({1, block, 3}, blocked), f32({1, 2 * block, 3}, blocked)},
                           {f32({1, 3 * block, 3}, blocked)}),
                  (std::vector<Index>{{0, 0, 0, 0, 12 * block}, {1, 0, 0, 12 * block, 24 * block}}));
        EXPECT_EQ(moves_of("Concat", 1, {f32({1, block - 1, 3}, blocked), f32({1, block + 1, 3}, blocked)},
                           {f32({1, 2 * block, 3}, blocked)}),
                  none);
    }
    EXPECT_EQ(moves_of("Concat", 1, {f32({1, 3, 5}, Layout::nhwc), f32({1, 2, 5}, Layout::nhwc)},
                       {f32({1, 5, 5}, Layout::nhwc)}),
              none);
    EXPECT_EQ(moves_of("Reorder", 0, {f32({3})}, {f32({3})}), none);
}

}  // namespace
}  // namespace headway
