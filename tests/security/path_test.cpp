// Paths that files name: external data of models, members of archives, links, and where results are saved. The rows of
// docs/design/0012-untrusted-input.md, through the program itself where it can show them. Inside and outside stand two
// files whose contents must never appear anywhere.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <protozero/pbf_writer.hpp>

#include "base/file.h"
#include "base/temporary.h"
#include "data/npy.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "ops/op.h"
#include "support/program.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_writer;
using Entries = std::vector<std::pair<std::string, std::string>>;

// y = Neg(w), w of two floats in external data.
std::string model_with(const Entries& external_data) {
    std::string tensor;
    pbf_writer writer(tensor);
    writer.add_int64(1, 2);
    writer.add_int32(2, 1);
    writer.add_string(8, "w");
    for (const auto& [key, value] : external_data) {
        pbf_writer entry(writer, 13);
        entry.add_string(1, key);
        entry.add_string(2, value);
    }
    writer.add_int32(14, 1);
    std::string graph;
    pbf_writer body(graph);
    {
        pbf_writer node(body, 1);
        node.add_string(1, "w");
        node.add_string(2, "y");
        node.add_string(4, "Neg");
    }
    body.add_message(5, tensor);
    pbf_writer(body, 12).add_string(1, "y");
    std::string bytes;
    pbf_writer model(bytes);
    model.add_int64(1, 8);
    model.add_message(7, graph);
    pbf_writer(model, 8).add_int64(2, 13);
    return bytes;
}

// A folder with a model's folder in it: OUTER/secret.bin and OUTER/model/{m.onnx,w.bin,deep/w.bin}.
class Paths : public testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(inner() + "/deep");
        write_bytes(outer() + "/secret.bin", secret);
        write_bytes(inner() + "/w.bin", weights);
        write_bytes(inner() + "/deep/w.bin", weights);
    }
    std::string outer() const { return folder_.path(); }
    std::string inner() const { return folder_.path() + "/model"; }

    // What `headway run` says of a model with these external data.
    ProgramRun run(const Entries& external_data) const {
        write_bytes(inner() + "/m.onnx", model_with(external_data));
        const ProgramRun result = run_program("run " + inner() + "/m.onnx");
        EXPECT_EQ(result.text().find("SECRET"), std::string::npos) << result.text();
        return result;
    }
    void expect_refused(const Entries& external_data, const std::string& why) const {
        const ProgramRun result = run(external_data);
        EXPECT_EQ(result.code, 2) << result.text();
        EXPECT_EQ(result.lines.size(), 1U) << result.text();
        EXPECT_NE(result.text().find(why), std::string::npos) << result.text();
    }
    static Entries at(const std::string& location) { return {{"location", location}}; }

    static constexpr std::string_view secret = "SECRET12";
    static constexpr std::string_view weights{"\0\0\x80\x3f\0\0\0\x40", 8};

private:
    TemporaryFolder folder_;
};

TEST_F(Paths, DataInsideTheFolderAreRead) {
    EXPECT_EQ(run(at("w.bin")).code, 0);
    EXPECT_EQ(run(at("deep/w.bin")).code, 0);
    EXPECT_EQ(run(at("./w.bin")).code, 0);
}

// CVE-2022-25882
TEST_F(Paths, DotsDoNotLeadOutside) {
    for (const char* location : {"../secret.bin", "..", "deep/../../secret.bin", "./../secret.bin", "deep/../w.bin"})
        expect_refused(at(location), "not a path inside the folder");
}

// CVE-2024-27318: ways around a check of the text before the path is resolved.
TEST_F(Paths, OtherSpellingsOfOutsideDoNotEither) {
    for (const std::string& location :
         {outer() + "/secret.bin", "/" + outer() + "/secret.bin", std::string("//etc/passwd"),
          std::string("deep//../../secret.bin"), std::string("deep/./../../secret.bin"),
          std::string("w.bin/../../secret.bin"), std::string("../model/../secret.bin")})
        expect_refused(at(location), "m.onnx");
    for (const char* location :
         {"..\\secret.bin", "%2e%2e/secret.bin", "..%2fsecret.bin", "file:///etc/passwd", "~/w.bin"})
        expect_refused(at(location), "No such file");
    expect_refused(at(std::string("w.bin\0/../../secret.bin", 22)), "not a path inside the folder");
}

// CVE-2024-27319: a message longer than its buffer.
TEST_F(Paths, LongNamesMakeLongMessagesAndNothingElse) {
    for (const size_t length : {256, 1023, 1024, 2047, 2048, 2049, 100'000})
        expect_refused(at(std::string(length, 'n')), "File name too long");
    expect_refused(at(std::string(100'000, '/')), "not a path inside the folder");
    std::string deep;
    for (int i = 0; i < 10'000; ++i) deep += "d/";
    expect_refused(at(deep + "w.bin"), "No such file");
}

// CVE-2026-27489, CVE-2026-34446: a link as the file, as its folder, as a folder further up, to inside and to outside.
TEST_F(Paths, NoComponentMayBeALink) {
    fs::create_symlink(outer() + "/secret.bin", inner() + "/link.bin");
    fs::create_symlink("w.bin", inner() + "/same.bin");
    fs::create_symlink(outer(), inner() + "/up");
    fs::create_directories(inner() + "/a/b");
    fs::create_symlink(outer(), inner() + "/a/b/up");
    fs::create_symlink(inner() + "/deep", inner() + "/a/deep");
    for (const char* location :
         {"link.bin", "same.bin", "up/secret.bin", "up/model/w.bin", "a/b/up/secret.bin", "a/deep/w.bin"})
        expect_refused(at(location), "links are not followed");
    fs::create_symlink("loop", inner() + "/loop");
    expect_refused(at("loop/w.bin"), "links are not followed");
    fs::create_symlink("/proc/self/root", inner() + "/root");
    expect_refused(at("root/etc/passwd"), "links are not followed");
}

// CVE-2026-34447
TEST_F(Paths, AFileWithASecondNameIsRefused) {
    fs::create_hard_link(outer() + "/secret.bin", inner() + "/hard.bin");
    expect_refused(at("hard.bin"), "a regular file with a single name");
}

TEST_F(Paths, OnlyRegularFilesAreRead) {
    ASSERT_EQ(::mkfifo((inner() + "/pipe").c_str(), 0600), 0);
    expect_refused(at("pipe"), "not a regular file");
    expect_refused(at("deep"), "not a regular file");
    expect_refused(at("."), "not a regular file");
}

// CVE-2026-34445: keys that became attributes of an object, and lengths that were believed.
TEST_F(Paths, KeysAreThoseOfTheFormatAndLengthsThoseOfTheFile) {
    EXPECT_EQ(run({{"location", "w.bin"}, {"__class__", "os"}, {"basepath", ".."}, {"checksum", "0"}}).code, 0)
        << "keys without a meaning change nothing";
    EXPECT_EQ(run({{"location", "w.bin"}, {"offset", "0"}, {"length", "8"}}).code, 0);
    for (const char* length : {"9223372036854775807", "1099511627776", "9", "7", "0"})
        expect_refused({{"location", "w.bin"}, {"length", length}}, "needs 8 bytes");
    for (const char* offset : {"9223372036854775807", "9223372036854775800", "1"})
        expect_refused({{"location", "w.bin"}, {"offset", offset}}, "lie outside");
    for (const char* number : {"-1", "18446744073709551615", "0x10", " 1", "1 ", "1e3", ""}) {
        expect_refused({{"location", "w.bin"}, {"offset", number}}, "offset is not a size");
        expect_refused({{"location", "w.bin"}, {"length", number}}, "length is not a size");
    }
    expect_refused({}, "not a path inside the folder");
}

// The public proof of concept: a model in the working folder has the folder "".
TEST_F(Paths, AModelWithoutAFolderStaysInTheWorkingFolder) {
    EXPECT_THROW(open_confined("", "../secret.bin"), UserError);
    EXPECT_THROW(open_confined("", "/etc/passwd"), UserError);
    write_bytes(inner() + "/m.onnx", model_with(at("../secret.bin")));
    const fs::path before = fs::current_path();
    fs::current_path(inner());
    const ProgramRun refused = run_program("run m.onnx");
    write_bytes(inner() + "/m.onnx", model_with(at("w.bin")));
    const ProgramRun read = run_program("run m.onnx");
    fs::current_path(before);
    EXPECT_EQ(refused.code, 2) << refused.text();
    EXPECT_NE(refused.text().find("not a path inside the folder"), std::string::npos) << refused.text();
    EXPECT_EQ(read.code, 0) << read.text();
}

// Nothing stands between the look and the opening: a file that is swapped for a link meanwhile is refused, or what was
// opened first is read.
TEST_F(Paths, TheFileThatWasCheckedIsTheFileThatIsRead) {
    const int file = open_confined(inner(), "w.bin");
    fs::remove(inner() + "/w.bin");
    fs::create_symlink(outer() + "/secret.bin", inner() + "/w.bin");
    const MappedFile mapped(file, "w.bin");
    ASSERT_EQ(mapped.bytes().size(), weights.size());
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()), weights);
}

// CVE-2025-51480: a model's own words decided where saving wrote. Exported models hold their tensors themselves.
TEST_F(Paths, SavingAModelWritesNoFileThatTheModelNames) {
    write_bytes(inner() + "/m.onnx", model_with(at("w.bin")));
    const OnnxModel model = import_onnx(inner() + "/m.onnx", declared<Op>());
    const std::string bytes = export_onnx(model.graph);
    EXPECT_EQ(bytes.find("w.bin"), std::string::npos);
    EXPECT_EQ(bytes.find("location"), std::string::npos);
    write_bytes(outer() + "/alone.onnx", bytes);
    const ProgramRun result = run_program("run " + outer() + "/alone.onnx");
    EXPECT_EQ(result.code, 0) << result.text();
}

// CISA VA-26-233-01: what is saved replaces a link and never goes through it.
TEST_F(Paths, SavingReplacesALinkInsteadOfFollowingIt) {
    write_bytes(inner() + "/m.onnx", model_with(at("w.bin")));
    fs::create_symlink(outer() + "/secret.bin", outer() + "/e.hwe");
    const ProgramRun built = run_program("build " + inner() + "/m.onnx -o " + outer() + "/e.hwe");
    EXPECT_EQ(built.code, 0) << built.text();
    EXPECT_FALSE(fs::is_symlink(outer() + "/e.hwe"));
    EXPECT_EQ(read_file(outer() + "/secret.bin"), secret);

    fs::create_directories(outer() + "/out/test_data_set_0");
    fs::create_directories(outer() + "/data");
    fs::create_symlink(outer() + "/secret.bin", outer() + "/out/test_data_set_0/output_0.pb");
    const std::string text = "graph { input %x: f32[2] %y: f32[2] = Neg:13(%x) output %y }";
    write_bytes(inner() + "/n.onnx", export_onnx(parse_graph(text)));
    write_bytes(outer() + "/data/input_0.pb",
                write_tensor_proto(Tensor::of<float>(Shape{2}, std::vector<float>{1, 2}), "x"));
    const ProgramRun ran =
        run_program("run " + inner() + "/n.onnx --data " + outer() + "/data --out " + outer() + "/out");
    EXPECT_EQ(ran.code, 0) << ran.text();
    EXPECT_FALSE(fs::is_symlink(outer() + "/out/test_data_set_0/output_0.pb"));
    EXPECT_EQ(read_file(outer() + "/secret.bin"), secret);
}

// Names of a model's outputs are no file names.
TEST_F(Paths, OutputNamesDoNotChooseFiles) {
    const std::string text =
        "graph { input %x: f32[2] %\"../../escaped\": f32[2] = Neg:13(%x) output %\"../../escaped\" }";
    write_bytes(inner() + "/n.onnx", export_onnx(parse_graph(text)));
    fs::create_directories(outer() + "/data");
    write_bytes(outer() + "/data/input_0.pb", write_tensor_proto(Tensor(ElementType::f32, Shape{2}), "x"));
    const ProgramRun ran =
        run_program("run " + inner() + "/n.onnx --data " + outer() + "/data --out " + outer() + "/out/deep");
    EXPECT_EQ(ran.code, 0) << ran.text();
    for (const auto& entry : fs::recursive_directory_iterator(outer()))
        EXPECT_EQ(entry.path().string().find("escaped"), std::string::npos) << entry.path();
}

// CVE-2024-5187: members of an archive are arrays by their names, not files.
TEST_F(Paths, MembersOfAnArchiveAreNeverUnpacked) {
    const std::string text = "graph { input %x: f32[2] %y: f32[2] = Neg:13(%x) output %y }";
    write_bytes(inner() + "/n.onnx", export_onnx(parse_graph(text)));
    const Tensor tensor(ElementType::f32, Shape{2});
    for (const char* name : {"../../evil", "/tmp/evil", "..", "a/../../evil"}) {
        write_bytes(inner() + "/d.npz", write_npz(std::vector<NamedTensor>{{name, tensor}}));
        const ProgramRun result = run_program("run " + inner() + "/n.onnx --data " + inner() + "/d.npz");
        EXPECT_EQ(result.code, 2) << result.text();
    }
    for (const auto& entry : fs::recursive_directory_iterator(outer()))
        EXPECT_EQ(entry.path().string().find("evil"), std::string::npos) << entry.path();
}

// A study that came from elsewhere: its log names engines by fingerprint, and is itself written to.
TEST_F(Paths, AStudyStaysInItsFolder) {
    fs::create_directories(outer() + "/study");
    write_bytes(outer() + "/ledger.json", "[{\"where\":\"SECRET\"}]");
    write_bytes(outer() + "/study/log.jsonl",
                "{\"event\":\"result\",\"result\":{\"route\":\"\",\"evidence\":{\"fingerprint\":\"../../ledger\"}}}\n");
    const ProgramRun explained = run_program("explain " + outer() + "/study");
    EXPECT_EQ(explained.code, 2) << explained.text();
    EXPECT_NE(explained.text().find("not a fingerprint"), std::string::npos) << explained.text();
    EXPECT_EQ(explained.text().find("SECRET"), std::string::npos) << explained.text();

    write_bytes(inner() + "/n.onnx",
                export_onnx(parse_graph("graph { input %x: f32[2] %y: f32[2] = Neg:13(%x) output %y }")));
    fs::remove(outer() + "/study/log.jsonl");
    fs::create_symlink(outer() + "/secret.bin", outer() + "/study/log.jsonl");
    const ProgramRun tuned =
        run_program("tune " + inner() + "/n.onnx --budget 1s --study " + outer() + "/study -o " + outer() + "/t.hwe");
    EXPECT_EQ(tuned.code, 2) << tuned.text();
    EXPECT_EQ(read_file(outer() + "/secret.bin"), secret) << "a torn last line is cut off a log";
}

}  // namespace
}  // namespace headway
