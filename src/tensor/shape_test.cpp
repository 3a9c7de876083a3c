#include "tensor/shape.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tensor/layout.h"

namespace headway {
namespace {

TEST(Shapes, CountAndStride) {
    EXPECT_EQ((Shape{}.elements()), 1);
    EXPECT_EQ((Shape{2, 0, 3}.elements()), 0);
    EXPECT_EQ((Shape{2, 3, 4}.elements(1, 3)), 12);
    EXPECT_EQ((Shape{2, 3, 4}.elements(2, 2)), 1);
    EXPECT_EQ((Shape{2, 3, 4}.strides()), (std::vector<int64_t>{12, 4, 1}));
    EXPECT_EQ((Shape{2, 0, 4}.strides()), (std::vector<int64_t>{4, 4, 1}));
    EXPECT_THROW((Shape{int64_t{1} << 40, int64_t{1} << 40}.elements()), UserError);
    EXPECT_THROW((Shape{0, int64_t{1} << 40, int64_t{1} << 40}.elements()), UserError);
    EXPECT_THROW((Shape{int64_t{1} << 40, int64_t{1} << 40, 0}.elements()), UserError);
    EXPECT_EQ((Shape{1, 3, 224}.text()), "1x3x224");
    EXPECT_EQ(Shape{}.text(), "scalar");
}

TEST(Shapes, BroadcastAsOnnx) {
    EXPECT_EQ(broadcast(Shape{2, 3}, Shape{3}), (Shape{2, 3}));
    EXPECT_EQ(broadcast(Shape{2, 1, 4}, Shape{3, 1}), (Shape{2, 3, 4}));
    EXPECT_EQ(broadcast(Shape{}, Shape{5}), Shape{5});
    EXPECT_EQ(broadcast(Shape{1}, Shape{0}), Shape{0});
    EXPECT_EQ(broadcast(Shape{0, 1}, Shape{1, 3}), (Shape{0, 3}));
    EXPECT_THROW(broadcast(Shape{2}, Shape{3}), UserError);
    EXPECT_THROW(broadcast(Shape{2}, Shape{0}), UserError);
}

TEST(Shapes, AxesCountFromBothEnds) {
    EXPECT_EQ(normalized_axis(-1, 3), 2);
    EXPECT_EQ(normalized_axis(-3, 3), 0);
    EXPECT_EQ(normalized_axis(2, 3), 2);
    EXPECT_THROW(normalized_axis(3, 3), UserError);
    EXPECT_THROW(normalized_axis(-4, 3), UserError);
    EXPECT_THROW(normalized_axis(0, 0), UserError);
}

TEST(Layouts, BlocksPadTheChannels) {
    for (const int64_t channels : {1, 3, 8, 17, 24}) {
        const Shape shape{2, channels, 5, 7};
        EXPECT_EQ((TensorDesc{ElementType::f32, shape, Layout::plain}.bytes()), 2 * channels * 35 * 4);
        EXPECT_EQ((TensorDesc{ElementType::f32, shape, Layout::nhwc}.bytes()), 2 * channels * 35 * 4);
        EXPECT_EQ((TensorDesc{ElementType::bf16, shape, Layout::nchw8c}.bytes()),
                  2 * ((channels + 7) / 8 * 8) * 35 * 2);
        EXPECT_EQ((TensorDesc{ElementType::f32, shape, Layout::nchw16c}.physical_elements()),
                  2 * ((channels + 15) / 16 * 16) * 35);
    }
    EXPECT_EQ((TensorDesc{ElementType::f32, Shape{2, 3, 0}, Layout::nchw8c}.bytes()), 0);
    EXPECT_THROW((TensorDesc{ElementType::f64, Shape{int64_t{1} << 61}, Layout::plain}.bytes()), UserError);
    for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
        EXPECT_EQ(layout_from_string(to_string(layout)), layout);
    EXPECT_THROW(layout_from_string("nchw"), UserError);
}

}  // namespace
}  // namespace headway
