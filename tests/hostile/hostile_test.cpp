// Each case: files in an empty folder, a command line, and what the one line on standard error must say. `{}` in a
// command line stands for the folder. A signal, another exit code, a second line or a raw control character fails.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <protozero/pbf_writer.hpp>

#include "base/file.h"
#include "base/temporary.h"
#include "data/npy.h"
#include "data/samples.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "tensor/random.h"
#include "support/program.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

struct Case {
    const char* name;
    std::function<void(const std::string& folder)> prepare;
    std::string arguments;
    std::vector<std::string> says;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::function<void(const std::string&)> file(std::string bytes) {
    return [bytes](const std::string& folder) { write_bytes(folder + "/m.onnx", bytes); };
}

std::function<void(const std::string&)> model(std::string_view text) { return file(export_onnx(parse_graph(text))); }

constexpr std::string_view sound_text = R"(graph {
    input %x: f32[batch,3]
    const %k: f32[3] = {1,2,3}
    %y: f32 = Add:13(%x, %k) @"first"
    %z: f32 = Neg:13(%y) @"second"
    output %z
})";

std::string sound() { return export_onnx(parse_graph(sound_text)); }

// A sound model with data that are not.
std::function<void(const std::string&)> data(std::vector<NamedTensor> inputs) {
    return [inputs](const std::string& folder) {
        write_bytes(folder + "/m.onnx", sound());
        write_sample(folder + "/data/test_data_set_0", inputs, {});
    };
}

NamedTensor floats(const std::string& name, const Shape& shape) {
    return {name, random_tensor(ElementType::f32, shape, 1)};
}

NamedTensor with_nan() {
    NamedTensor x = floats("x", Shape{2, 3});
    x.tensor.set(4, std::nan(""));
    return x;
}

// An engine file of the sound model, damaged by `damage`.
std::function<void(const std::string&)> engine(std::function<void(std::string&)> damage) {
    return [damage](const std::string& folder) {
        write_bytes(folder + "/m.onnx", sound());
        ASSERT_EQ(run_program("build " + folder + "/m.onnx --shape x=2x3 -o " + folder + "/e.hwe").code, 0);
        std::string bytes = read_file(folder + "/e.hwe");
        damage(bytes);
        write_bytes(folder + "/e.hwe", bytes);
    };
}

std::string raw_model(const std::function<void(protozero::pbf_writer& graph)>& write_graph, int64_t opset = 13) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, 8);
    std::string graph;
    protozero::pbf_writer graph_writer(graph);
    write_graph(graph_writer);
    writer.add_message(7, graph);
    protozero::pbf_writer import(writer, 8);
    import.add_int64(2, opset);
    return bytes;
}

void add_node(protozero::pbf_writer& graph, const char* op, const char* input, const char* output, const char* name) {
    protozero::pbf_writer node(graph, 1);
    node.add_string(1, input);
    node.add_string(2, output);
    node.add_string(3, name);
    node.add_string(4, op);
}

void add_output(protozero::pbf_writer& graph, const char* name) {
    protozero::pbf_writer output(graph, 12);
    output.add_string(1, name);
}

const std::string inspect = "inspect {}/m.onnx", build = "build {}/m.onnx -o {}/e.hwe",
                  run_data = "run {}/m.onnx --data {}/data";

std::vector<Case> model_cases() {
    const auto nothing = [](const std::string&) {};
    return {
        {"no_file", nothing, inspect, {"cannot open", "m.onnx", "No such file"}},
        {"a_folder",
         [](const std::string& folder) { fs::create_directory(folder + "/m.onnx"); },
         inspect,
         {"not a regular file"}},
        {"empty_file", file(""), inspect, {"m.onnx", "empty"}},
        {"text_file", file("hello, this is not a model\n"), inspect, {"m.onnx", "damaged protobuf"}},
        {"zip_file", file(write_npz(std::vector{floats("x", Shape{2})})), inspect, {"m.onnx"}},
        {"half_a_model", file(sound().substr(0, sound().size() / 2)), inspect, {"m.onnx", "damaged protobuf"}},
        {"wrong_protobuf", file(write_tensor_proto(Tensor(ElementType::f32, Shape{2}), "x")), inspect, {"m.onnx"}},
        {"no_graph", file(std::string("\x08\x08", 2)), inspect, {"no graph"}},
        {"unknown_operator",
         model("graph { input %x: f32[1] %y: f32[1] = Frobnicate(%x) @\"odd one\" output %y }"),
         build,
         {"Frobnicate", "odd one"}},
        {"unknown_domain",
         model("graph { input %x: f32[1] %y: f32[1] = com.nobody/Neg(%x) @\"n\" output %y }"),
         build,
         {"com.nobody/Neg"}},
        {"opset_of_the_future",
         model("graph { input %x: f32[1] %y: f32[1] = Neg:99(%x) output %y }"),
         build,
         {"operator set 99"}},
        {"terminal_escapes",
         model("graph { input %x: f32[1] %y: f32[1] = Frobnicate(%x) @\"\\x1B[31mred\" output %y }"),
         build,
         {"\\x1B[31mred"}},
        {"terminal_escapes_in_a_symbol",
         model("graph { input %\"\\x1B[31mx\": f32[\"\\x1B[32mn\"] %y: f32 = Neg:13(%\"\\x1B[31mx\") output %y }"),
         build,
         {"\\x1B[31mx", "\\x1B[32mn"}},
        {"cycle",
         file(raw_model([](auto& graph) {
             add_node(graph, "Neg", "b", "a", "one");
             add_node(graph, "Neg", "a", "b", "two");
             add_output(graph, "b");
         })),
         inspect,
         {"one", "cycle"}},
        {"missing_value",
         file(raw_model([](auto& graph) {
             add_node(graph, "Neg", "nowhere", "a", "one");
             add_output(graph, "a");
         })),
         inspect,
         {"one", "nowhere", "nothing produces"}},
        {"value_defined_twice",
         model("graph { input %x: f32[1] %y: f32[1] = Neg(%x) output %y output %y }"),
         inspect,
         {"declared twice"}},
        {"outside_external_data",
         file(raw_model([](auto& graph) {
             add_node(graph, "Neg", "w", "a", "one");
             add_output(graph, "a");
             protozero::pbf_writer tensor(graph, 5);
             tensor.add_int32(2, 1);
             tensor.add_string(8, "w");
             tensor.add_int32(14, 1);
             protozero::pbf_writer entry(tensor, 13);
             entry.add_string(1, "location");
             entry.add_string(2, "../../../../../../etc/passwd");
         })),
         inspect,
         {"w", "not a path inside"}},
        {"shapes_that_do_not_fit",
         model("graph { input %x: f32[2] input %y: f32[3] %z: f32 = Add:13(%x, %y) @\"sum\" output %z }"),
         build,
         {"sum", "2", "3"}},
        {"types_that_do_not_fit",
         model("graph { input %x: f32[2] input %y: i64[2] %z: f32 = Add:13(%x, %y) @\"sum\" output %z }"),
         build,
         {"sum"}},
        {"wrong_number_of_inputs",
         model("graph { input %x: f32[2] %z: f32 = Add:13(%x) @\"sum\" output %z }"),
         build,
         {"sum"}},
        {"open_dimensions", file(sound()), build, {"x", "batch", "--shape"}},
        {"gigantic_shape", file(sound()), build + " --shape x=4000000000000x3", {"x"}},
        {"a_shape_that_overflows", file(sound()), build + " --shape x=9223372036854775807x3", {"x"}},
    };
}

std::vector<Case> data_cases() {
    return {
        {"no_data", file(sound()), run_data, {"data"}},
        {"empty_data",
         [](const std::string& folder) {
             write_bytes(folder + "/m.onnx", sound());
             fs::create_directory(folder + "/data");
         },
         run_data,
         {"data", "no data"}},
        {"garbage_tensor",
         [](const std::string& folder) {
             write_bytes(folder + "/m.onnx", sound());
             fs::create_directory(folder + "/data");
             write_bytes(folder + "/data/input_0.pb", "garbage");
         },
         run_data,
         {"input_0.pb"}},
        {"garbage_archive",
         [](const std::string& folder) {
             write_bytes(folder + "/m.onnx", sound());
             fs::create_directory(folder + "/data");
             write_bytes(folder + "/data/a.npz", "PK garbage");
         },
         run_data,
         {"a.npz", "not a zip archive"}},
        {"missing_input",
         [](const std::string& folder) {
             model("graph { input %x: f32[2] input %y: f32[2] %z: f32 = Add:13(%x, %y) output %z }")(folder);
             write_sample(folder + "/data", std::vector{floats("", Shape{2})}, {});
         },
         run_data,
         {"y"}},
        {"surplus_input", data({floats("", Shape{2, 3}), floats("", Shape{2})}), run_data, {"2 inputs", "1"}},
        {"misnamed_array",
         [](const std::string& folder) {
             write_bytes(folder + "/m.onnx", sound());
             write_bytes(folder + "/data.npz", write_npz(std::vector{floats("images", Shape{2, 3})}));
         },
         "run {}/m.onnx --data {}/data.npz --shape x=2x3",
         {"images", "x"}},
        {"wrong_type", data({{"x", random_tensor(ElementType::f64, Shape{2, 3}, 1)}}), run_data, {"x", "f64", "f32"}},
        {"wrong_shape", data({floats("x", Shape{2, 4})}), run_data, {"x"}},
        {"wrong_rank", data({floats("x", Shape{2, 3, 1})}), run_data, {"x"}},
        {"not_a_number", data({with_nan()}), run_data, {"x", "NaN", "4"}},
        {"no_references_for_an_engine",
         [](const std::string& folder) {
             engine([](std::string&) {})(folder);
             write_sample(folder + "/data", std::vector{floats("x", Shape{2, 3})}, {});
         },
         "check {}/e.hwe --data {}/data",
         {"reference", "--model"}},
    };
}

std::vector<Case> engine_cases() {
    const std::string run_engine = "run {}/e.hwe";
    return {
        {"engine_missing", [](const std::string&) {}, run_engine, {"e.hwe"}},
        {"engine_empty", engine([](std::string& bytes) { bytes.clear(); }), run_engine, {"e.hwe"}},
        {"engine_truncated", engine([](std::string& bytes) { bytes.resize(bytes.size() / 2); }), run_engine, {"e.hwe"}},
        {"engine_of_text", engine([](std::string& bytes) { bytes = "an engine"; }), run_engine, {"e.hwe"}},
        {"engine_with_a_flipped_bit",
         engine([](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; }),
         run_engine,
         {"e.hwe"}},
        {"inspect_damaged_engine", engine([](std::string& bytes) { bytes[100] ^= 1; }), "inspect {}/e.hwe", {"e.hwe"}},
        {"route_for_an_engine", engine([](std::string&) {}), "run {}/e.hwe --route conv.algorithm=rows", {"--route"}},
    };
}

std::vector<Case> option_cases() {
    return {
        {"shape_of_words", file(sound()), build + " --shape x=axb", {"--shape"}},
        {"shape_without_name", file(sound()), build + " --shape 2x3", {"--shape"}},
        {"shape_of_nobody", file(sound()), build + " --shape y=2x3", {"y"}},
        {"shape_of_another_rank", file(sound()), build + " --shape x=2", {"x"}},
        {"shape_against_the_model", file(sound()), build + " --shape x=2x4", {"x"}},
        {"too_little_memory", file(sound()), "--memory-limit 4K " + build + " --shape x=1000x3", {"first", "memory"}},
        {"too_little_memory_behind_the_command",
         file(sound()),
         build + " --shape x=1000x3 --memory-limit 4k",
         {"first"}},
        {"memory_of_words", file(sound()), build + " --shape x=2x3 --memory-limit lots", {"--memory-limit"}},
        {"unknown_knob", file(sound()), build + " --shape x=2x3 --route no.such_knob=1", {"no.such_knob"}},
        {"unknown_target", file(sound()), build + " --shape x=2x3 --target pdp11", {"pdp11"}},
        {"unwritable_output", file(sound()), "build {}/m.onnx --shape x=2x3 -o {}/absent/e.hwe", {"absent"}},
        {"unknown_command", file(sound()), "buidl {}/m.onnx", {"buidl", "build"}},
        {"unknown_option", file(sound()), inspect + " --frobnicate", {"--frobnicate"}},
        {"unknown_metric", file(sound()), "check {}/m.onnx --shape x=2x3 --metric rel_l3", {"rel_l3"}},
        {"metric_of_nobody", file(sound()), "check {}/m.onnx --shape x=2x3 --metric zz=rel_l2", {"zz"}},
    };
}

class Hostile : public testing::TestWithParam<Case> {};

TEST_P(Hostile, EndsWithOneClearLine) {
    const Case& test = GetParam();
    const TemporaryFolder folder;
    test.prepare(folder.path());
    const std::string arguments = in_folder(test.arguments, folder.path());
    const ProgramRun outcome = run_program(arguments);
    const std::string all = outcome.text();
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << all;
    ASSERT_EQ(outcome.lines.size(), 1U) << all;
    EXPECT_TRUE(all.starts_with("headway: ")) << all;
    for (const std::string& words : test.says)
        EXPECT_NE(all.find(words), std::string::npos) << "no \"" << words << "\" in: " << all;
    for (const char c : outcome.lines[0])
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << "raw control character";
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Models, Hostile, testing::ValuesIn(model_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Data, Hostile, testing::ValuesIn(data_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Engines, Hostile, testing::ValuesIn(engine_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Options, Hostile, testing::ValuesIn(option_cases()), name_of);

}  // namespace
}  // namespace headway
