// The other rules of docs/design/0012-untrusted-input.md: sizes of raw data, depth, names in linear time, unknown
// numbers, errors that keep the contents of files to themselves, child processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <functional>
#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/temporary.h"
#include "compile/compile.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "ops/op.h"
#include "support/program.h"
#include "tensor/narrow.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

using protozero::pbf_writer;

std::string tensor_message(ElementType type, int64_t elements, const std::string& raw) {
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_int64(1, elements);
    writer.add_int32(2, static_cast<int32_t>(type));
    writer.add_bytes(9, raw);
    return bytes;
}

// Rule 3. Element types narrower than a byte share bytes, the last one may be half full (ONNX Runtime #28973).
TEST(RawData, HasExactlyTheBytesOfItsShape) {
    int types = 0;
    for (int number = 1; number < 64; ++number) {
        const auto type = static_cast<ElementType>(number);
        const int64_t bits = size_of(type) == 0 ? 0 : bits_of(type);
        if (bits == 0) continue;
        ++types;
        for (int64_t elements = 0; elements <= 9; ++elements) {
            const int64_t size = (elements * bits + 7) / 8;
            for (const int64_t wrong : {-1, 1, 8}) {
                if (size + wrong < 0) continue;
                const std::string bytes =
                    tensor_message(type, elements, std::string(static_cast<size_t>(size + wrong), '\0'));
                EXPECT_THROW(read_tensor_proto(bytes, nullptr), UserError) << to_string(type) << " " << elements;
            }
            const std::string bytes = tensor_message(type, elements, std::string(static_cast<size_t>(size), '\0'));
            EXPECT_EQ(read_tensor_proto(bytes, nullptr).tensor.elements(), elements) << to_string(type);
        }
    }
    EXPECT_GE(types, 20);
}

TEST(RawData, ElementsOfFourBitsAreFoundAtOddPlaces) {
    const std::string bytes = tensor_message(ElementType::u4, 3, "\x21\x03");
    const Tensor tensor = read_tensor_proto(bytes, nullptr).tensor;
    EXPECT_EQ(tensor.to_int64(), (std::vector<int64_t>{1, 2, 3}));
    const std::string negative = tensor_message(ElementType::i4, 3, "\xF8\x0F");
    EXPECT_EQ(read_tensor_proto(negative, nullptr).tensor.to_int64(), (std::vector<int64_t>{-8, -1, -1}));
}

// Models of `depth` Ifs inside each other, in both branches; the innermost branches read the outermost input.
std::string nested_ifs(int depth) {
    std::string branch = "graph { %e = Neg:13(%x) output %e }";
    for (int level = 0; level < depth; ++level)
        branch = "graph { %e = If:16(%c) {then_branch=graph { %t = Abs:13(%x) output %t }, else_branch=" + branch +
                 "} output %e }";
    return "graph { input %c: bool[] input %x: f32[2] %y: f32[2] = If:16(%c) {then_branch=graph { %t = Abs:13(%x) "
           "output %t }, else_branch=" +
           branch + "} output %y }";
}

// Of the processor, whatever else runs on the machine.
double seconds_of(const std::function<void()>& work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

OnnxModel imported(const std::string& bytes) {
    const TemporaryFolder folder;
    write_bytes(folder.path() + "/m.onnx", bytes);
    return import_onnx(folder.path() + "/m.onnx", declared<Op>());
}

// Rule 5. ONNX Runtime once walked nested sub-graphs in time that doubled with each level (PR #29617). Nobody would see
// the end of that here.
TEST(Depth, NestedSubgraphsTakeTimeByTheirSize) {
    const std::string bytes = export_onnx(parse_graph(nested_ifs(30)));
    const Graph graph = imported(bytes).graph;
    Tensor condition(ElementType::boolean, Shape{});
    const std::vector<Tensor> inputs{condition, Tensor::of<float>(Shape{2}, std::vector<float>{1, -2})};
    EXPECT_EQ(interpret(graph, inputs, declared<Op>())[0].at(1), 2);
}

TEST(Depth, DeeperNestingIsRefusedInEveryForm) {
    EXPECT_THROW(parse_graph(nested_ifs(40)), UserError);
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "graph { %y = If:16(%c) {then_branch=";
    EXPECT_THROW(parse_graph(text), UserError);
}

// Messages inside messages, in fields that are read and in fields that are skipped.
TEST(Depth, NestedMessagesAreRefusedOrSkipped) {
    for (const uint32_t field : {1U, 4U, 5U, 6U, 7U, 9U, 11U, 14U, 20U, 25U, 100U}) {
        std::string message;
        for (int level = 0; level < 20'000; ++level) {
            std::string outer;
            pbf_writer(outer).add_message(field, message);
            message = std::move(outer);
        }
        for (const uint32_t outermost : {7U, 25U, 14U}) {
            std::string bytes;
            pbf_writer writer(bytes);
            writer.add_int64(1, 8);
            writer.add_message(outermost, message);
            EXPECT_THROW(imported(bytes), UserError) << field << " in " << outermost;
        }
        try {
            read_sequence_proto(message, nullptr);
            read_optional_proto(message, nullptr);
        } catch (const UserError&) {
        }
    }
}

// The declaration of x, of f32.
std::string float_input() {
    std::string bytes;
    pbf_writer input(bytes);
    input.add_string(1, "x");
    pbf_writer type(input, 2);
    pbf_writer(type, 1).add_int32(1, 1);
    return bytes;
}

// A chain of nodes in which every name is resolved.
std::string chain(int nodes) {
    std::string graph;
    pbf_writer body(graph);
    for (int i = 0; i < nodes; ++i) {
        pbf_writer node(body, 1);
        node.add_string(1, i == 0 ? "x" : "v" + std::to_string(i - 1));
        node.add_string(2, "v" + std::to_string(i));
        node.add_string(4, "Neg");
    }
    body.add_message(11, float_input());
    pbf_writer(body, 12).add_string(1, "v" + std::to_string(nodes - 1));
    std::string bytes;
    pbf_writer model(bytes);
    model.add_int64(1, 8);
    model.add_message(7, graph);
    pbf_writer(model, 8).add_int64(2, 13);
    return bytes;
}

TEST(Names, AreResolvedInLinearTime) {
    const std::string small = chain(5'000), large = chain(80'000);
    const double first = seconds_of([&] { imported(small); });
    const double second = seconds_of([&] { imported(large); });
    EXPECT_LT(second, 16 * 4 * first) << "quadratic would be 256 times";
}

// Rule 6.
TEST(Unknown, NumbersAreRefusedWithTheNameOfTheNode) {
    for (int64_t type = -1; type <= 40; ++type) {
        std::string attribute;
        pbf_writer writer(attribute);
        writer.add_string(1, "odd");
        writer.add_int64(20, type);
        std::string graph;
        pbf_writer body(graph);
        {
            pbf_writer node(body, 1);
            node.add_string(1, "x");
            node.add_string(2, "y");
            node.add_string(3, "culprit");
            node.add_string(4, "Neg");
            node.add_message(5, attribute);
        }
        body.add_message(11, float_input());
        pbf_writer(body, 12).add_string(1, "y");
        std::string bytes;
        pbf_writer model(bytes);
        model.add_int64(1, 8);
        model.add_message(7, graph);
        pbf_writer(model, 8).add_int64(2, 13);
        try {
            imported(bytes);
            EXPECT_TRUE(type >= 1 && type <= 13) << "accepted attribute type " << type;
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find("culprit"), std::string::npos) << error.what();
        }
    }
}

// Rule 11: a file that is no model, tensor, engine or log may be one that the user would not want to see in a report.
TEST(Contents, AreNotRepeatedInErrors) {
    const TemporaryFolder folder;
    const std::string sound = export_onnx(parse_graph("graph { input %x: f32[2] %y: f32[2] = Neg:13(%x) output %y }"));
    write_bytes(folder.path() + "/m.onnx", sound);
    const std::string secret = "TOPSECRET:$6$x:0:0::/root:/bin/sh\n";
    const std::vector<std::string> contents{secret, "{\"TOPSECRET\": TOPSECRET}\n",
                                            std::string("\x93NUMPY\x01\x00\x40\x00", 10) + secret + secret,
                                            "{\"event\": \"TOPSECRET", "PK\x03\x04" + secret};
    for (const std::string& content : contents) {
        std::filesystem::create_directories(folder.path() + "/study");
        for (const char* name : {"/s.onnx", "/s.pb", "/s.npz", "/s.hwe", "/study/log.jsonl"})
            write_bytes(folder.path() + name, content);
        std::filesystem::create_directories(folder.path() + "/data");
        write_bytes(folder.path() + "/data/input_0.pb", content);
        for (const char* arguments :
             {"inspect {}/s.onnx", "run {}/s.onnx", "build {}/s.onnx -o {}/e.hwe", "run {}/s.hwe", "inspect {}/s.hwe",
              "run {}/m.onnx --data {}/data", "run {}/m.onnx --data {}/s.npz", "explain {}/study", "report {}/study",
              "explain {}/s.hwe"}) {
            const ProgramRun run = run_program(in_folder(arguments, folder.path()));
            // a log's torn last line is dropped, so that a report has nothing to refuse
            EXPECT_TRUE(run.code == 2 || std::string_view(arguments).starts_with("report")) << run.text();
            EXPECT_EQ(run.text().find("SECRET"), std::string::npos) << arguments << "\n" << run.text();
        }
    }
}

// Rule 9: descriptors of this process end with it, however they were opened.
TEST(Children, InheritNoDescriptors) {
    const int leak = ::open("/etc/passwd", O_RDONLY);
    const int low = ::fcntl(leak, F_DUPFD, 100), high = ::fcntl(leak, F_DUPFD, 700);  // the shell uses a few
    ASSERT_GE(high, 700);
    Subprocess child({.command = {"/bin/sh", "-c", "for f in /proc/self/fd/*; do echo ${f##*/}; done; echo end"},
                      .environment = {}});
    std::vector<std::string> open;
    std::string line;
    while (child.read_line(line, 20, 1000) == Subprocess::Read::line && line != "end") open.push_back(line);
    for (const int descriptor : {low, high})
        EXPECT_EQ(std::ranges::count(open, std::to_string(descriptor)), 0) << "descriptor " << descriptor;
    EXPECT_EQ(std::ranges::count(open, "2"), 1);
    for (const int descriptor : {leak, low, high}) ::close(descriptor);
}

TEST(Children, HaveLimitsAndAGroupOfTheirOwn) {
    Subprocess child({.command = {"/bin/sh", "-c", "ulimit -v; ulimit -c; echo $(($(ps -o pgid= $$)))"},
                      .environment = {},
                      .memory_limit = int64_t{1} << 30});
    std::vector<std::string> said;
    std::string line;
    while (child.read_line(line, 20, 1000) == Subprocess::Read::line) said.push_back(line);
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said[0], std::to_string((int64_t{1} << 30) / 1024));
    EXPECT_EQ(said[1], "0");
    EXPECT_EQ(said[2], std::to_string(child.pid()));
}

// CVE-2026-28500 was a loader that fetched models by name. There is none: the program has no way to reach a network.
TEST(Network, IsNotReachedByTheProgram) {
    const std::string program = read_file(HEADWAY_PROGRAM);
    for (const char* symbol : {"getaddrinfo", "gethostbyname", "curl_easy_init", "SSL_connect"})
        EXPECT_EQ(program.find(std::string("\0", 1) + symbol + '\0'), std::string::npos) << symbol;
}

}  // namespace
}  // namespace headway
