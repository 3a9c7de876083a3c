#include "kernels/target.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace headway {
namespace {

TEST(target, text_and_parse_are_inverse) {
    Target target = Target::native();
    target.onednn = "2.6.3";
    target.avx512_bf16 = true;
    EXPECT_EQ(Target::parse(target.text()), target);
    EXPECT_EQ(Target::parse("isa=avx2\nl2=1048576\n").l2_bytes, 1048576);
}

TEST(target, words_name_instruction_sets) {
    EXPECT_EQ(Target::parse("baseline").lanes(), 4);
    EXPECT_EQ(Target::parse("avx2").lanes(), 8);
    EXPECT_EQ(Target::parse(" avx512 ").lanes(), 16);
}

TEST(target, native_is_sane) {
    const Target target = Target::native();
    EXPECT_TRUE(runs_here(target.isa));
    EXPECT_GE(target.threads, 1);
    EXPECT_GE(target.l1_bytes, 4 << 10);
    EXPECT_GE(target.l2_bytes, target.l1_bytes);
}

TEST(target, what_a_machine_lacks) {
    const auto missing = [](const char* built, const char* here) {
        return missing_field(Target::parse(built), Target::parse(here));
    };
    EXPECT_EQ(missing("avx512", "avx2"), "isa=avx512");
    EXPECT_EQ(missing("isa=avx512 bf16=1", "avx512"), "bf16=1");
    EXPECT_EQ(missing("isa=avx512 vnni=1 bf16=1", "isa=avx512 bf16=1"), "vnni=1");
    EXPECT_EQ(missing("isa=avx512 bf16=1", "isa=avx512 bf16=1 vnni=1 l2=4096"), "");
    EXPECT_EQ(missing("baseline", "avx2"), "");
}

TEST(target, bad_text_is_the_users_fault) {
    for (const char* text : {"avx3", "isa=avx2 l1=0", "isa=avx2 threads=x", "isa=avx2 colour=red", "isa=avx2 l1", ""})
        EXPECT_THROW(Target::parse(text), UserError) << text;
}

}  // namespace
}  // namespace headway
