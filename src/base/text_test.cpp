#include "base/text.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Text, NearestNameFindsTyposOnly) {
    const std::vector<std::string> names = {"conv.algorithm", "pool", "fuse_pointwise"};
    EXPECT_EQ(nearest_name("conv.algoritm", names), "conv.algorithm");
    EXPECT_EQ(nearest_name("fuse_pointwise", names), "fuse_pointwise");
    EXPECT_EQ(nearest_name("pol", names), "pool");
    EXPECT_EQ(nearest_name("something_else_entirely", names), "");
    EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Text, GlobsMatchWholeTexts) {
    EXPECT_TRUE(glob_match("*", ""));
    EXPECT_TRUE(glob_match("/backbone/*", "/backbone/conv/1"));
    EXPECT_FALSE(glob_match("/backbone/*", "x/backbone/conv"));
    EXPECT_TRUE(glob_match("a?c", "abc"));
    EXPECT_FALSE(glob_match("a?c", "ac"));
    EXPECT_TRUE(glob_match("*b*d", "abcbd"));
    EXPECT_FALSE(glob_match("*b*d", "abcb"));
    EXPECT_TRUE(glob_match("", ""));
    EXPECT_FALSE(glob_match("", "a"));
    // a pattern that takes exponential time in naive matchers
    const std::string text(2000, 'a');
    std::string glob;
    for (int i = 0; i < 100; ++i) glob += "*a";
    EXPECT_FALSE(glob_match(glob + "b", text));
}

TEST(Text, EscapedHidesWhatATerminalObeys) {
    EXPECT_EQ(escaped("plain /name:0"), "plain /name:0");
    EXPECT_EQ(escaped("\x1b[31m\n\""), "\\x1B[31m\\x0A\\x22");
    EXPECT_EQ(escaped("a\\b"), "a\\x5Cb");
    EXPECT_EQ(escaped("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
    EXPECT_EQ(escaped("\xC3("), "\\xC3(") << "a lead byte without its tail";
    EXPECT_EQ(escaped("\xC0\x80\xFF"), "\\xC0\\x80\\xFF") << "overlong and impossible bytes";
    EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
}

TEST(Text, SplitJoinTrim) {
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
    EXPECT_EQ(join(split("a,,b", ','), ","), "a,,b");
    EXPECT_EQ(join({}, ","), "");
    EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
    EXPECT_EQ(trimmed(" \n"), "");
}

}  // namespace
}  // namespace headway
