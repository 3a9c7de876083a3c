// The driver itself: children that crash, hang or take too much memory cost one request each; lists are held to what
// came out; differences are found. This program is its own child.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"
#include "batch.h"
#include "closeness.h"
#include "expected.h"

namespace headway::conformance {
namespace {

using Json = nlohmann::json;

Json misbehave(const Json& request, const std::function<void(const Json&)>& send) {
    const std::string what = request.at("what");
    if (what == "early") send({{"note", 1}});
    if (what == "crash") ::raise(SIGSEGV);
    if (what == "throw") throw UserError("on purpose");
    if (what == "hang") ::pause();
    if (what == "spin")
        for (volatile int turns = 0;; turns = turns + 1) {
        }
    // Addresses alone: the limit is on address space, and no memory is touched.
    if (what == "memory") return {{"got", ::operator new (size_t{8} << 30, std::nothrow) != nullptr}};
    return {{"pid", ::getpid()}};
}

struct Ended1 {
    std::vector<Json> lines;
    Ending ending;
};

std::vector<Ended1> run(const std::vector<std::string>& what, int jobs, int batch = 64) {
    std::vector<Json> requests;
    for (const std::string& word : what) requests.push_back({{"what", word}});
    BatchLimits limits;
    limits.jobs = jobs;
    limits.batch = batch;
    limits.seconds = 1;
    limits.memory_bytes = int64_t{4} << 30;
    std::vector<Ended1> ended(what.size());
    run_in_children(requests, limits, [&](size_t k, const std::vector<Json>& lines, const Ending& ending) {
        ended[k] = {lines, ending};
    });
    return ended;
}

TEST(Batch, GoesOnAfterEachKindOfDeath) {
    for (int jobs : {1, 3}) {
        const auto ended = run({"good", "crash", "good", "hang", "throw", "early", "good", "spin"}, jobs);
        EXPECT_EQ(ended[1].ending.kind, Ending::died);
        EXPECT_NE(ended[1].ending.detail.find("signal 11"), std::string::npos) << ended[1].ending.detail;
        EXPECT_EQ(ended[3].ending.kind, Ending::timed_out);
        EXPECT_EQ(ended[7].ending.kind, Ending::timed_out);
        EXPECT_EQ(ended[4].ending.kind, Ending::died);
        EXPECT_NE(ended[4].ending.detail.find("on purpose"), std::string::npos) << ended[4].ending.detail;
        ASSERT_EQ(ended[5].lines.size(), 2U);
        EXPECT_EQ(ended[5].lines[0].at("note"), 1);
        for (size_t good : {0U, 2U, 5U, 6U}) {
            EXPECT_EQ(ended[good].ending.kind, Ending::answered);
            ASSERT_FALSE(ended[good].lines.empty());
            EXPECT_TRUE(ended[good].lines.back().contains("pid"));
        }
    }
}

TEST(Batch, LimitsMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers need their address space";
#endif
    EXPECT_EQ(run({"memory"}, 1)[0].lines.back().at("got"), false);
}

TEST(Batch, OneProcessForABatch) {
    const auto ended = run({"good", "good", "good", "good"}, 1, 2);
    const auto pid = [&](size_t k) { return ended[k].lines.back().at("pid").get<int>(); };
    EXPECT_EQ(pid(0), pid(1));
    EXPECT_NE(pid(1), pid(2));
    EXPECT_EQ(pid(2), pid(3));
}

class ExpectedTest : public ::testing::Test {
protected:
    ExpectedList list(const std::string& text) {
        write_file_atomically(folder_.path() + "/list", text);
        return read_expected(folder_.path() + "/list");
    }
    TemporaryFolder folder_;
};

TEST_F(ExpectedTest, ReadsNamesOutcomesAndReasons) {
    const ExpectedList read = list("# head\n\na unsupported because of x\nb wrong y\n");
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read.at("a").outcome, Outcome::unsupported);
    EXPECT_EQ(read.at("a").reason, "because of x");
}

TEST_F(ExpectedTest, RefusesBadLines) {
    EXPECT_THROW(list("a\n"), UserError);
    EXPECT_THROW(list("a unsupported\n"), UserError);
    EXPECT_THROW(list("a strange reason\n"), UserError);
    EXPECT_THROW(list("a pass reason\n"), UserError);
    EXPECT_THROW(list("a wrong x\na wrong x\n"), UserError);
}

TEST_F(ExpectedTest, EveryDepartureIsASurprise) {
    const ExpectedList read = list("a unsupported x\nb wrong y\nc random z\n");
    const std::vector<CaseResult> as_listed{{"a", Outcome::unsupported, ""},
                                            {"b", Outcome::wrong, ""},
                                            {"c", Outcome::random, ""},
                                            {"d", Outcome::pass, ""}};
    EXPECT_TRUE(surprises(read, as_listed, true).empty());
    for (size_t k = 0; k < as_listed.size(); ++k)
        for (Outcome outcome : all_outcomes) {
            if (outcome == as_listed[k].outcome) continue;
            std::vector<CaseResult> changed = as_listed;
            changed[k].outcome = outcome;
            EXPECT_EQ(surprises(read, changed, true).size(), 1U) << as_listed[k].name << to_string(outcome);
        }
    const std::span<const CaseResult> without_a = std::span(as_listed).subspan(1);
    EXPECT_EQ(surprises(read, without_a, true).size(), 1U);
    EXPECT_TRUE(surprises(read, without_a, false).empty());
}

TEST_F(ExpectedTest, RenewsWhatChanged) {
    const std::string old = "# head\na unsupported kept\nb wrong gone\nc wrong better\n";
    const std::vector<CaseResult> results{{"a", Outcome::unsupported, "other words"},
                                          {"b", Outcome::pass, ""},
                                          {"c", Outcome::unsupported, "new"},
                                          {"d", Outcome::crash, "signal"}};
    EXPECT_EQ(renewed_list(old, results), "# head\na unsupported kept\nc unsupported new\nd crash signal\n");
}

Datum f32(Shape shape, std::vector<float> values) { return Tensor::of<float>(std::move(shape), values); }

TEST(Closeness, FindsFormAndValues) {
    const CaseTolerance tolerance;
    const std::vector<Datum> want{f32({2}, {1, 2})};
    const auto finds = [&](const Datum& got) {
        return difference(std::vector<Datum>{got}, want, tolerance).has_value();
    };
    EXPECT_FALSE(finds(f32({2}, {1.0009F, 2})));
    EXPECT_TRUE(finds(f32({2}, {1.0011F, 2})));
    EXPECT_TRUE(finds(f32({2, 1}, {1, 2})));
    EXPECT_TRUE(finds(Tensor::of<double>({2}, std::vector<double>{1, 2})));
    EXPECT_TRUE(finds(Sequence{ElementType::f32, {std::get<Tensor>(want[0])}}));
    EXPECT_TRUE(difference({}, want, tolerance).has_value());
    EXPECT_FALSE(form_difference(std::vector<Datum>{f32({2}, {7, 8})}, want).has_value());
    EXPECT_TRUE(form_difference(std::vector<Datum>{f32({1}, {7})}, want).has_value());
}

TEST(Closeness, SequencesByTheirTensors) {
    const Tensor a = std::get<Tensor>(f32({1}, {1})), b = std::get<Tensor>(f32({1}, {2}));
    const std::vector<Datum> want{Sequence{ElementType::f32, {a, b}}};
    EXPECT_FALSE(difference(std::vector<Datum>{Sequence{ElementType::f32, {a, b}}}, want, {}).has_value());
    EXPECT_TRUE(difference(std::vector<Datum>{Sequence{ElementType::f32, {a, a}}}, want, {}).has_value());
    EXPECT_TRUE(difference(std::vector<Datum>{Sequence{ElementType::f32, {a}}}, want, {}).has_value());
}

TEST(Closeness, HoldsKnobsToTheirPromise) {
    // Of two values that should be 0 and 100, one is off by what sums in another order may be.
    const std::vector<Datum> want{f32({2}, {0, 100})}, near{f32({2}, {0.001F, 100})}, far{f32({2}, {0.1F, 100})};
    const auto finds = [&](const std::vector<Datum>& got, Numerics numerics) {
        return reordered_difference(got, want, {}, numerics).has_value();
    };
    EXPECT_FALSE(finds(want, Numerics::exact));
    EXPECT_TRUE(finds(near, Numerics::exact));
    EXPECT_FALSE(finds(near, Numerics::reorders));
    EXPECT_TRUE(finds(far, Numerics::reorders));
    EXPECT_TRUE(finds(far, Numerics::approximates));
    EXPECT_FALSE(finds(far, Numerics::reduced));
    EXPECT_TRUE(
        bit_difference(std::vector<Datum>{f32({1}, {0.0F})}, std::vector<Datum>{f32({1}, {-0.0F})}).has_value());
}

}  // namespace
}  // namespace headway::conformance

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == "--child")
        return headway::conformance::serve_batches(headway::conformance::misbehave);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
