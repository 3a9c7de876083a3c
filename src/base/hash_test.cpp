#include "base/hash.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Hash, IsTheSameOnEveryMachine) {
    // XXH3-128 of nothing, from its specification
    EXPECT_EQ(hash_bytes(nullptr, 0).hex(), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(hash_text("headway"), hash_bytes("headway", 7));
    EXPECT_NE(hash_text("headway"), hash_text("headwaz"));
    EXPECT_EQ((Hash{1, 0x2a}.hex()), "0000000000000001000000000000002a");
}

TEST(Hash, LengthsKeepItemsApart) {
    EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
    EXPECT_NE(Hasher().add(int64_t{1}).finish(), Hasher().add(int64_t{1}).add(int64_t{0}).finish());
    EXPECT_NE(Hasher().add_bytes("ab", 2).finish(), Hasher().add_bytes("abc", 3).finish());
    EXPECT_EQ(Hasher().add("x").add(int64_t{-1}).finish(), Hasher().add("x").add(int64_t{-1}).finish());
}

}  // namespace
}  // namespace headway
