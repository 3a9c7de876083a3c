#include "base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace headway {
namespace {

std::string refusal(const std::string& text) {
    try {
        read_json(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(Json, ReadsWhatIsSound) {
    const nlohmann::json json = read_json(R"({"a":[1,2.5,"x"],"b":null})");
    EXPECT_EQ(json.at("a").at(2), "x");
    EXPECT_TRUE(json.at("b").is_null());
    EXPECT_EQ(refusal(std::string(60, '[') + std::string(60, ']')), "");
}

TEST(Json, ErrorsNameThePlaceAndRepeatNothing) {
    EXPECT_EQ(refusal(R"({"a": secret})"), "not JSON at byte 7");
    EXPECT_EQ(refusal(""), "not JSON at byte 1");
    EXPECT_EQ(refusal("[1e999]"), "not JSON");
}

TEST(Json, DeepNestingIsRefusedWhereverItEnds) {
    for (const char* open : {"[", "{\"a\":"}) {
        std::string text;
        for (int i = 0; i < 100'000; ++i) text += open;
        EXPECT_EQ(refusal(text), "JSON nested deeper than 64");
    }
}

TEST(Json, WholeNumbersAreWholeAndInRange) {
    const auto refused = [](const char* text) {
        EXPECT_THROW(whole<int>(read_json(text)), UserError) << text;
        EXPECT_THROW(whole<int64_t>(read_json(text)), UserError) << text;
    };
    for (const char* text : {"1e112", "-1e300", "1.0", "0.5", "\"1\"", "true", "null", "[1]", "18446744073709551615"})
        refused(text);
    EXPECT_THROW(whole<int>(read_json("2147483648")), UserError);
    EXPECT_THROW(whole<int>(read_json("-2147483649")), UserError);
    EXPECT_EQ(whole<int>(read_json("-2147483648")), -2147483648);
    EXPECT_EQ(whole<int64_t>(read_json("9223372036854775807")), 9223372036854775807);
}

}  // namespace
}  // namespace headway
