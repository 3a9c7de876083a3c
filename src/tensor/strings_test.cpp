#include "tensor/strings.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace headway {
namespace {

TEST(Strings, HashTellsValuesAndShapesApart) {
    const Strings strings{Shape{2}, {"ab", "c"}};
    EXPECT_EQ(strings.hash(), (Strings{Shape{2}, {"ab", "c"}}).hash());
    EXPECT_NE(strings.hash(), (Strings{Shape{2}, {"a", "bc"}}).hash());
    EXPECT_NE(strings.hash(), (Strings{Shape{1, 2}, {"ab", "c"}}).hash());
}

TEST(Strings, WriterCollectsInOrder) {
    StringsWriter writer(Shape{2});
    writer.add("a");
    writer.add("b", "c");
    EXPECT_EQ(std::move(writer).finish(), (Strings{Shape{2}, {"a", "bc"}}));
}

TEST(Strings, WriterRefusesWhatPassesItsLimit) {
    const auto one = static_cast<int64_t>(sizeof(std::string));
    EXPECT_THROW(StringsWriter(Shape{3}, 3 * one - 1), UserError);
    EXPECT_THROW(StringsWriter(Shape{int64_t{1} << 62}), UserError);
    StringsWriter writer(Shape{2}, 2 * one + 3);
    writer.add("ab");
    EXPECT_THROW(writer.add("c", "d"), UserError);
}

}  // namespace
}  // namespace headway
