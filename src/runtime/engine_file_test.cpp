#include "runtime/engine_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <unistd.h>

#include "base/file.h"
#include "runtime/testing.h"

namespace headway::testing {
namespace {

class EngineFileTest : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  ("engine_file_" + std::to_string(::getpid()) + "_" +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder_);
        path = (folder_ / "e.hwe").string();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string refusal() const {
        try {
            read_engine_file(path);
        } catch (const UserError& error) {
            return std::string(error.what()).substr(path.size());
        }
        return "accepted";
    }

    std::string path;

private:
    std::filesystem::path folder_;
};

// A plan with something in every field.
Plan rich_plan() {
    Plan plan = example(20, 2).plan;
    plan.settings.spin_us = 20;
    plan.settings.min_task_us = 0.1;
    plan.inputs[1].fixed_value.assign(80, std::byte{7});
    Step& step = plan.steps[0];
    step.problem.version = 14;
    step.problem.attributes.set("axis", int64_t{-1});
    step.problem.attributes.set("alpha", 0.1F);
    step.problem.attributes.set("mode", std::string("linear"));
    step.problem.attributes.set("pads", std::vector<int64_t>{1, 2, 3});
    step.problem.attributes.set("scales", std::vector<float>{0.5F});
    step.problem.attributes.set("names", std::vector<std::string>{"a", ""});
    step.problem.attributes.set("value", Tensor::of<int64_t>(Shape{2}, std::vector<int64_t>{4, 5}));
    step.problem.epilogue.code = {{Opcode::clip, 0, 0, 0, 0.F, 6.F}, {Opcode::relu, 0, 0, 0, 0, 0}};
    step.problem.src.push_back(std::nullopt);
    step.problem.constant.push_back(false);
    step.src.push_back(-1);
    step.choices.set("some.knob", "word");
    step.max_threads = 1;
    return plan;
}

EngineInfo rich_info() {
    EngineInfo info = PlanMaker::info();
    info.builder_version = "0.1";
    info.model = hash_text("model");
    info.model_name = "m";
    info.route = "a=b";
    info.ledger = "[]";
    return info;
}

TEST_F(EngineFileTest, KeepsPlanAndInfo) {
    const Plan plan = rich_plan();
    EngineInfo info = rich_info();
    info.certificate = "{\"pass\":true}";
    write_engine_file(path, plan, info);
    const EngineFile read = read_engine_file(path);
    EXPECT_EQ(read.plan.fingerprint(), plan.fingerprint());
    EXPECT_EQ(read.plan.settings, plan.settings);
    EXPECT_EQ(read.plan.steps[0].origins, plan.steps[0].origins);
    EXPECT_EQ(read.plan.buffers[3].name, plan.buffers[3].name);
    EXPECT_EQ(read.plan.constants[0].bytes.at(0), 3);
    EXPECT_EQ(read.plan.steps[0].problem.attributes.tensor("value")->to_int64(), (std::vector<int64_t>{4, 5}));
    EXPECT_EQ(read.info.route, info.route);
    EXPECT_EQ(read.info.model, info.model);
    EXPECT_EQ(read.info.ledger, info.ledger);
    EXPECT_EQ(read.info.certificate, info.certificate);
    // and once more: the same bytes
    const std::string first = read_file(path);
    write_engine_file(path, read.plan, read.info);
    EXPECT_EQ(read_file(path), first);
}

// Settings younger than the format leave no trace in files that do not use them.
TEST_F(EngineFileTest, KeepsYoungSettings) {
    Plan plan = rich_plan();
    write_engine_file(path, plan, rich_info());
    const size_t bytes = read_file(path).size();
    plan.settings.partition = "guided";
    write_engine_file(path, plan, rich_info());
    EXPECT_GE(read_file(path).size(), bytes);
    const EngineFile read = read_engine_file(path);
    EXPECT_EQ(read.plan.settings, plan.settings);
    EXPECT_EQ(read.plan.fingerprint(), plan.fingerprint());
    EXPECT_NE(read.plan.fingerprint(), rich_plan().fingerprint());
}

TEST_F(EngineFileTest, LoadsAndRuns) {
    for (const char* pages : {"thp", "mapped"}) {
        PlanMaker maker = example(500, 2);
        maker.plan.settings.weight_pages = pages;
        write_engine_file(path, maker.plan, PlanMaker::info());
        const auto x = numbers(500, 1), y = numbers(500, 2);
        Context context(Engine::load(path, kernels()));
        const Tensor out = context.run(std::vector<Tensor>{tensor_of(x), tensor_of(y)})[0];
        EXPECT_TRUE(std::ranges::equal(out.data<float>(), example_result(x, y)));
    }
}

void read_from_memory(const std::string& file) {
    const auto copy = std::make_shared<const std::string>(file);
    read_engine_bytes("memory", std::as_bytes(std::span(*copy)), copy);
}

TEST_F(EngineFileTest, SeesEveryFlippedByte) {
    write_engine_file(path, rich_plan(), rich_info());
    set_certificate(path, "{\"pass\":true}");
    const std::string good = read_file(path);
    EXPECT_NO_THROW(read_from_memory(good));
    for (size_t at = 0; at < good.size(); ++at)
        for (unsigned flip : {0x01U, 0x80U, 0xFFU}) {
            std::string bad = good;
            bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
            ASSERT_THROW(read_from_memory(bad), UserError) << "byte " << at << " of " << good.size();
        }
}

TEST_F(EngineFileTest, SeesEveryTruncation) {
    write_engine_file(path, rich_plan(), rich_info());
    const size_t content = read_file(path).size();
    set_certificate(path, "{\"pass\":true}");
    const std::string good = read_file(path);
    for (size_t length = 0; length < good.size(); ++length) {
        // only the certificate may be missing as a whole
        if (length == content)
            EXPECT_NO_THROW(read_from_memory(good.substr(0, length)));
        else
            ASSERT_THROW(read_from_memory(good.substr(0, length)), UserError)
                << "length " << length << " of " << good.size();
    }
}

TEST_F(EngineFileTest, NamesTheSection) {
    write_engine_file(path, rich_plan(), rich_info());
    const std::string good = read_file(path);
    const auto with = [&](size_t at, char byte) {
        std::string bad = good;
        bad[at] = byte;
        write_file_atomically(path, bad);
        return refusal();
    };
    EXPECT_EQ(with(0, 'x'), " is not a Headway engine file");
    EXPECT_EQ(with(8, 7), " has engine file version 7, this program reads versions 1 and 2: build the engine again");
    EXPECT_EQ(with(20, 7), ": prologue does not match its checksum");
    EXPECT_EQ(with(200, 7), ": header does not match its checksum");
    EXPECT_EQ(with(good.size() - 1, 7), ": padding at byte " + std::to_string(good.size() - 1) + " is not zero");
    write_file_atomically(path, good + "x");
    EXPECT_EQ(refusal(), ": certificate is not a certificate");
    write_file_atomically(path, std::string("\x89HWE\r\n\x1a\n", 8));
    EXPECT_EQ(refusal(), " ends within its first section");
}

TEST_F(EngineFileTest, CertificateLeavesTheTestedBytesAlone) {
    write_engine_file(path, rich_plan(), rich_info());
    const std::string before = read_file(path);
    set_certificate(path, "{\"a\":1}");
    EXPECT_TRUE(read_file(path).starts_with(before));
    set_certificate(path, "{\"b\":22}");
    EXPECT_TRUE(read_file(path).starts_with(before));
    EXPECT_EQ(read_engine_file(path).info.certificate, "{\"b\":22}");
    set_certificate(path, "");
    EXPECT_EQ(read_file(path), before);
}

TEST_F(EngineFileTest, RefusesPackedConstantsThatTheKernelDidNotMake) {
    const auto load = [&](const Plan& plan) -> std::string {
        write_engine_file(path, plan, PlanMaker::info());
        try {
            Engine::load(path, kernels());
        } catch (const UserError& error) {
            return std::string(error.what()).substr(path.size());
        }
        return "accepted";
    };
    Plan plan = example(20).plan;
    EXPECT_EQ(load(plan), "accepted");
    plan.steps[1].packed.clear();
    EXPECT_EQ(load(plan), ": step test.scale#1: has 0 packed constants, kernel test.scale makes 1");
    plan = example(20).plan;
    plan.constants[0] = {{ElementType::u8, Shape{3}}, Tensor(ElementType::u8, Shape{3}), {}};
    EXPECT_EQ(load(plan), ": step test.scale#1: packed constant 0 has not the size that kernel test.scale makes");
    plan.steps[1].problem.src.push_back(TensorDesc{ElementType::f32, Shape{1 << 20, 1 << 20}});
    plan.steps[1].problem.constant.push_back(true);
    plan.steps[1].src.push_back(-1);
    EXPECT_EQ(load(plan), ": step test.scale#1: its problem has more constants than the file");
}

// Bytes of the prologue: 8 magic, 4 version, 8 content, 4 sections of (offset, length, checksum), checksum.
std::string signed_again(std::string file) {
    const auto word = [&](size_t at) {
        uint64_t value = 0;
        std::memcpy(&value, file.data() + at, 8);
        return value;
    };
    const auto put = [&](size_t at, const Hash& hash) {
        std::memcpy(file.data() + at, &hash.high, 8);
        std::memcpy(file.data() + at + 8, &hash.low, 8);
    };
    for (size_t entry = 20; entry < 20 + 4 * 32; entry += 32)
        put(entry + 16, hash_bytes(file.data() + word(entry), word(entry + 8)));
    put(20 + 4 * 32, hash_bytes(file.data(), 20 + 4 * 32));
    return file;
}

// A forged file has good checksums: every field must be checked by itself. Names may change, the rest is refused.
TEST_F(EngineFileTest, SurvivesForgedFields) {
    write_engine_file(path, rich_plan(), rich_info());
    const std::string good = read_file(path);
    ASSERT_EQ(signed_again(good), good);
    int refused = 0, accepted = 0;
    for (size_t at = 20 + 4 * 32 + 16; at < good.size(); ++at)
        for (unsigned flip : {0x01U, 0x08U, 0x80U, 0xFFU}) {
            std::string bad = good;
            bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
            try {
                read_from_memory(signed_again(std::move(bad)));
                ++accepted;
            } catch (const UserError&) {
                ++refused;
            }
        }
    EXPECT_GT(refused, accepted);
}

TEST_F(EngineFileTest, RefusesAFileForAnotherMachine) {
    if (runs_here(Isa::avx512)) GTEST_SKIP() << "this machine runs everything";
    EngineInfo info = rich_info();
    info.target = "avx512";
    write_engine_file(path, example(20).plan, info);
    try {
        Engine::load(path, kernels());
        FAIL();
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("built for isa=avx512"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace headway::testing
