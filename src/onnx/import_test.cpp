#include "onnx/import.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "base/file.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

using protozero::pbf_writer;

// Operators without a meaning: importing asks only whether one is known.
const Registry<Op>& test_operators() {
    static const auto operators = [] {
        std::vector<std::unique_ptr<Op>> made;
        for (const char* name : {"Neg", "Abs", "Add", "Mul", "Div", "Softmax", "Identity", "If", "Constant"}) {
            Op::Fields fields;
            fields.name = name;
            fields.since = {6};
            made.push_back(std::make_unique<Op>(fields));
        }
        return made;
    }();
    static const Registry<Op> registry = [] {
        std::vector<const Op*> entries;
        for (const auto& op : operators) entries.push_back(op.get());
        return Registry<Op>(entries);
    }();
    return registry;
}

class Import : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "headway_import_XXXXXX";
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    OnnxModel import(std::string_view bytes, const ImportOptions& options = {}) const {
        std::ofstream(folder_ + "/m.onnx", std::ios::binary) << bytes;  // no fsync: there are thousands of these
        return import_onnx(folder_ + "/m.onnx", ops_, options);
    }
    // The message after the path, or "" when the import succeeds.
    std::string error_of(std::string_view bytes) const {
        try {
            import(bytes);
        } catch (const UserError& error) {
            const std::string text = error.what(), path = folder_ + "/m.onnx: ";
            EXPECT_EQ(text.substr(0, path.size()), path);
            return text.substr(path.size());
        }
        return "";
    }
    static std::string onnx(std::string_view text) { return export_onnx(parse_graph(text)); }

    std::string folder_;
    const Registry<Op>& ops_ = test_operators();
};

// Pieces of hand-written models, for what the exporter never writes.
std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                 const std::string& name = "", const std::string& domain = "") {
    std::string bytes;
    pbf_writer writer(bytes);
    for (const auto& input : inputs) writer.add_string(1, input);
    for (const auto& output : outputs) writer.add_string(2, output);
    writer.add_string(3, name);
    writer.add_string(4, op);
    writer.add_string(7, domain);
    return bytes;
}

std::string value_info(const std::string& name, int type = 1) {
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_string(1, name);
    pbf_writer outer(writer, 2);
    pbf_writer tensor(outer, 1);
    tensor.add_int32(1, type);
    pbf_writer shape(tensor, 2);
    pbf_writer dim(shape, 1);
    dim.add_int64(1, 2);
    return bytes;
}

struct ModelParts {
    std::vector<std::string> nodes = {node("Neg", {"x"}, {"y"})};
    std::vector<std::string> inputs = {value_info("x")};
    std::vector<std::string> outputs = {value_info("y")};
    std::vector<std::string> initializers = {};
    std::vector<std::string> infos = {};
    std::vector<std::pair<std::string, int64_t>> opsets = {{"", 13}};
    int64_t ir_version = 8;

    std::string bytes() const {
        std::string graph;
        pbf_writer writer(graph);
        for (const auto& item : nodes) writer.add_message(1, item);
        for (const auto& item : initializers) writer.add_message(5, item);
        for (const auto& item : inputs) writer.add_message(11, item);
        for (const auto& item : outputs) writer.add_message(12, item);
        for (const auto& item : infos) writer.add_message(13, item);
        std::string bytes;
        pbf_writer model(bytes);
        model.add_int64(1, ir_version);
        model.add_message(7, graph);
        for (const auto& [domain, version] : opsets) {
            pbf_writer opset(model, 8);
            opset.add_string(1, domain);
            opset.add_int64(2, version);
        }
        return bytes;
    }
};

std::string external_tensor(const std::string& name, const std::string& location, const std::string& offset,
                            const std::string& length, int64_t elements = 2) {
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_int64(1, elements);
    writer.add_int32(2, 1);
    writer.add_string(8, name);
    const auto entry = [&](const char* key, const std::string& value) {
        if (value.empty()) return;
        pbf_writer item(writer, 13);
        item.add_string(1, key);
        item.add_string(2, value);
    };
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
    writer.add_int32(14, 1);
    return bytes;
}

constexpr std::string_view mixed_text = R"(graph {
  input %x: f32[batch,3,?]
  input %c: bool[]
  const %w: f32[3,1] = {1,2.5,-3}
  const %ids: i64[2] = {7,-9}
  %a: f32 = Mul:13(%x, %w) @"scale"
  %s: f32 = Softmax:13(%a) {axis=1} @"Softmax#0"
  %b = If:13(%c) {else_branch=graph {
      %n: f32 = Neg:13(%s) @"choose/else_branch/Neg#0"
      output %n
    }, then_branch=graph {
      const %two: f32[] = {2}
      %d: f32 = Div:13(%s, %two) @"choose/then_branch/halve"
      output %d
    }} @"choose"
  output %b
  output %a
})";

TEST_F(Import, ReadsBackWhatTheExporterWrites) {
    const Graph graph = parse_graph(mixed_text);
    const OnnxModel model = import(export_onnx(graph));
    EXPECT_EQ(model.opsets, (std::map<std::string, int>{{"", 13}}));
    EXPECT_EQ(model.producer, "headway");
    const Graph& got = model.graph;
    ASSERT_EQ(got.node_count(), 3);
    EXPECT_EQ(got.value(got.inputs[0]).dims->at(0).symbol, "batch");
    EXPECT_EQ(got.value(got.inputs[0]).dims->at(2).symbol, "?");
    ASSERT_TRUE(got.value(got.inputs[1]).dims.has_value()) << "the shape of a scalar is known";
    EXPECT_EQ(got.value(got.inputs[1]).dims->size(), 0U);
    EXPECT_EQ(got.node(0).origins[0], "scale");
    EXPECT_EQ(got.node(0).version, 13);
    EXPECT_EQ(got.constant(got.node(0).inputs[1])->at(2), -3);
    EXPECT_EQ(got.find_value("ids"), no_value) << "nothing reads it";
    EXPECT_EQ(got.node(1).attributes.integer("axis", 0), 1);
    const Node& choose = got.node(2);
    ASSERT_EQ(choose.subgraphs.size(), 2U);
    EXPECT_EQ(choose.subgraphs[0].attribute, "else_branch");
    const Graph& branch = *choose.subgraphs[1].graph;
    EXPECT_EQ(branch.node(0).origins[0], "choose/then_branch/halve");
    EXPECT_NE(branch.find_value("s"), no_value);
    EXPECT_EQ(branch.value(branch.find_value("s")).producer, no_node);
}

TEST_F(Import, EveryTruncationAndEveryFlippedByteIsAnErrorOrAModel) {
    const std::string bytes = onnx(mixed_text);
    for (size_t size = 0; size < bytes.size(); ++size) {
        // a model may lose its opset or its tail and stay sound; what may not happen is anything but a UserError
        try {
            import(std::string_view(bytes).substr(0, size));
        } catch (const UserError&) {
        }
    }
    EXPECT_NE(error_of(std::string_view(bytes).substr(0, bytes.size() / 2)), "");
    for (size_t at = 0; at < bytes.size(); ++at) {
        for (const int flip : {0x01, 0xFE}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ flip);
            try {
                import(damaged);
            } catch (const UserError&) {
            }
        }
    }
}

// The type of a value named x: a message of TypeProto inside the given fields, outermost first.
std::string nested_info(std::vector<uint32_t> fields) {
    std::string type;
    pbf_writer(type).add_message(1, std::string("\x08\x01", 2));  // a tensor of f32
    for (; !fields.empty(); fields.pop_back()) {
        std::string element, outer;
        pbf_writer(element).add_message(1, type);
        pbf_writer(outer).add_message(fields.back(), element);
        type = outer;
    }
    std::string bytes;
    pbf_writer writer(bytes);
    writer.add_string(1, "x");
    writer.add_message(2, type);
    return bytes;
}

TEST_F(Import, KeepsKindsOfValuesAndRefusesDeeperOnes) {
    constexpr uint32_t sequence = 4, optional = 9, map = 5;
    const auto imported = [&](std::vector<uint32_t> fields) {
        ModelParts parts;
        parts.inputs = {nested_info(std::move(fields))};
        parts.nodes = {node("Identity", {"x"}, {"y"})};
        return parts.bytes();
    };
    const auto kind_of_input = [&](std::vector<uint32_t> fields) {
        const Graph graph = import(imported(std::move(fields))).graph;
        EXPECT_EQ(graph.value(graph.inputs[0]).type, ElementType::f32);
        return graph.value(graph.inputs[0]).kind;
    };
    EXPECT_EQ(kind_of_input({}), DeclaredKind::tensor);
    EXPECT_EQ(kind_of_input({sequence}), DeclaredKind::sequence);
    EXPECT_EQ(kind_of_input({optional}), DeclaredKind::optional);
    EXPECT_EQ(kind_of_input({optional, sequence}), DeclaredKind::optional);
    for (const auto& fields : std::vector<std::vector<uint32_t>>{
             {sequence, sequence}, {sequence, optional}, {optional, optional}, {optional, sequence, sequence}, {map}})
        EXPECT_NE(error_of(imported(fields)).find("not handled"), std::string::npos);
    EXPECT_NE(error_of(imported(std::vector<uint32_t>(1000, sequence))).find("not handled"), std::string::npos);
}

TEST_F(Import, NamesEmptyAndRepeatedNodesByOperatorAndOrder) {
    ModelParts parts;
    parts.nodes = {node("Neg", {"x"}, {"a"}), node("Neg", {"a"}, {"b"}, "twice"), node("Abs", {"b"}, {"c"}, "twice"),
                   node("Neg", {"c"}, {"d"}, "mine"), node("Abs", {"d"}, {"y"}, "Neg#0")};
    const Graph graph = import(parts.bytes()).graph;
    std::vector<std::string> origins;
    for (NodeId id = 0; id < graph.node_count(); ++id) origins.push_back(graph.node(id).origins[0]);
    EXPECT_EQ(origins, (std::vector<std::string>{"Neg#0~", "Neg#1", "Abs#0", "mine", "Neg#0"}));
}

TEST_F(Import, SortsNodesOnlyWhereTheFileIsOutOfOrder) {
    ModelParts parts;
    parts.nodes = {node("Neg", {"b"}, {"y"}, "third"), node("Neg", {"x"}, {"a"}, "first"),
                   node("Neg", {"a"}, {"b"}, "second")};
    const Graph graph = import(parts.bytes()).graph;
    EXPECT_EQ(graph.node(0).origins[0], "first");
    EXPECT_EQ(graph.node(2).origins[0], "third");
}

TEST_F(Import, ConstantNodesAreConstants) {
    std::string constant = node("Constant", {}, {"k"});
    std::string attribute;
    pbf_writer writer(attribute);
    writer.add_string(1, "value_ints");
    for (const int64_t value : {4, 5}) writer.add_int64(8, value);  // unpacked
    writer.add_int32(20, 7);
    pbf_writer(constant).add_message(5, attribute);
    ModelParts parts;
    parts.nodes = {constant, node("Add", {"x", "k"}, {"y"})};
    const Graph graph = import(parts.bytes()).graph;
    ASSERT_EQ(graph.node_count(), 1);
    EXPECT_EQ(graph.constant(graph.node(0).inputs[1])->to_int64(), (std::vector<int64_t>{4, 5}));
}

TEST_F(Import, StringsBecomeConstantNodes) {
    const Strings words{Shape{2}, {"a", std::string("\0b", 2)}};
    std::string constant = node("Constant", {}, {"k"}, "made");
    std::string attribute;
    pbf_writer writer(attribute);
    writer.add_string(1, "value_string");
    writer.add_string(4, "text");
    writer.add_int32(20, 3);
    pbf_writer(constant).add_message(5, attribute);
    ModelParts parts;
    parts.inputs = {value_info("x", 8)};
    parts.initializers = {write_tensor_proto(words, "w"), write_tensor_proto(words, "unread")};
    // before the node that makes k, as the file may have them in any order
    parts.nodes = {node("Add", {"x", "w"}, {"a"}), node("Add", {"a", "k"}, {"y"}), constant};
    const Graph graph = import(parts.bytes()).graph;
    EXPECT_EQ(graph.value(graph.inputs[0]).type, ElementType::string);
    ASSERT_EQ(graph.node_count(), 4);
    const Node& initializer = graph.node(graph.value(graph.find_value("w")).producer);
    EXPECT_EQ(initializer.op, "Constant");
    EXPECT_EQ(initializer.version, 13);
    EXPECT_EQ(initializer.origins, std::vector<std::string>{"w"});
    EXPECT_EQ(*initializer.attributes.strings("value"), words);
    EXPECT_EQ(graph.node(graph.value(graph.find_value("k")).producer).attributes.text("value_string", ""), "text");
    const Graph again = import(export_onnx(graph)).graph;
    EXPECT_EQ(*again.node(again.value(again.find_value("w")).producer).attributes.strings("value"), words);
}

TEST_F(Import, AnInitialisedInputIsAConstantUnlessItIsFed) {
    ModelParts parts;
    parts.nodes = {node("Add", {"x", "w"}, {"y"})};
    parts.inputs = {value_info("w"), value_info("x")};
    parts.initializers = {write_tensor_proto(Tensor::of<float>(Shape{2}, std::vector<float>{1, 2}), "w")};
    const OnnxModel plain = import(parts.bytes());
    EXPECT_EQ(plain.graph.inputs.size(), 1U);
    EXPECT_TRUE(plain.graph.is_constant(plain.graph.node(0).inputs[1]));
    EXPECT_EQ(plain.defaulted_inputs, std::vector<std::string>{"w"});
    const OnnxModel fed = import(parts.bytes(), {.fed_inputs = {"w"}});
    EXPECT_EQ(fed.graph.inputs.size(), 2U);
    EXPECT_FALSE(fed.graph.is_constant(fed.graph.node(0).inputs[1]));
    parts.ir_version = 3;
    const OnnxModel old = import(parts.bytes(), {.fed_inputs = {"w"}});
    EXPECT_EQ(old.graph.inputs.size(), 1U);
    EXPECT_TRUE(old.defaulted_inputs.empty());
}

TEST_F(Import, SaysWhatIsWrongWithAGraph) {
    const auto error = [&](auto&& damage) {
        ModelParts parts;
        damage(parts);
        return error_of(parts.bytes());
    };
    EXPECT_EQ(error([](ModelParts&) {}), "");
    EXPECT_EQ(error([](ModelParts& m) {
                  m.nodes = {node("Add", {"x", "z"}, {"y"}, "n")};
              }),
              "node \"n\" (Add): it reads \"z\", which nothing produces");
    EXPECT_EQ(error([](ModelParts& m) { m.outputs = {value_info("q")}; }),
              "the graph's outputs name \"q\", which nothing produces");
    EXPECT_EQ(error([](ModelParts& m) { m.outputs = {}; }), "the model has no outputs");
    EXPECT_EQ(error([](ModelParts& m) { m.nodes.push_back(node("Neg", {"x"}, {"y"}, "again")); }),
              "node \"again\" (Neg): value \"y\" is defined twice");
    EXPECT_EQ(
        error([](ModelParts& m) {
            m.nodes = {node("Add", {"x", "b"}, {"a"}, "p"), node("Neg", {"a"}, {"b"}, "q"), node("Neg", {"b"}, {"y"})};
        }),
        "node \"p\" (Add) stands on or behind a cycle");
    EXPECT_EQ(error([](ModelParts& m) { m.inputs.push_back(value_info("x")); }), "value \"x\" is defined twice");
    EXPECT_EQ(error([](ModelParts& m) { m.opsets = {}; }),
              "node \"Neg#0\" (Neg): the model imports no operator set of domain \"\"");
    EXPECT_EQ(error([](ModelParts& m) {
                  m.opsets = {{"", 99}};
              }),
              "operator set 99 is newer than 27, the newest that is handled");
    EXPECT_EQ(error([](ModelParts& m) {
                  m.opsets = {{"", 13}, {"ai.onnx", 12}};
              }),
              "two versions of the operator set of domain \"\"");
    EXPECT_EQ(error([](ModelParts& m) { m.inputs = {value_info("x", 999)}; }),
              "value \"x\": element type number 999 is not handled");
    EXPECT_EQ(error([](ModelParts& m) { m.infos = {value_info("y", 0)}; }),
              "value \"y\": element type number 0 is not handled");
    EXPECT_EQ(error([](ModelParts& m) { m.ir_version = 0; }), "not an ONNX model: it holds no graph");
    EXPECT_NE(error([](ModelParts& m) { m.opsets = {{"", 5}}; }).find("opset 5"), std::string::npos);
    EXPECT_NE(error([](ModelParts& m) { m.nodes = {node("Frobnicate", {"x"}, {"y"}, "n\x1b")}; }).find("Frobnicate"),
              std::string::npos);
    EXPECT_EQ(error([](ModelParts& m) { m.nodes = {node("Frobnicate", {"x"}, {"y"}, "n\x1b")}; }).find('\x1b'),
              std::string::npos);
    const std::string domain = error([](ModelParts& m) {
        m.opsets.emplace_back("com.nobody", 1);
        m.nodes = {node("Neg", {"x"}, {"a"}, "n", "com.nobody"), node("Frobnicate", {"a"}, {"y"})};
    });
    EXPECT_NE(domain.find("com.nobody/Neg"), std::string::npos) << domain;
    EXPECT_NE(domain.find("Frobnicate"), std::string::npos) << domain;
}

TEST_F(Import, SaysWhatIsWrongWithAFile) {
    EXPECT_EQ(error_of(""), "the file is empty");
    EXPECT_EQ(error_of("not a protobuf"), "damaged protobuf: a field that cannot be read");
    EXPECT_THROW(import_onnx(folder_, ops_), UserError);
    EXPECT_THROW(import_onnx(folder_ + "/absent.onnx", ops_), UserError);
    std::string wrong;
    pbf_writer(wrong).add_string(1, "ir");
    EXPECT_EQ(error_of(wrong), "damaged protobuf: field 1 has the wrong wire type");
}

TEST_F(Import, TensorsMustFitTheirShapeExactly) {
    const auto error = [&](auto&& write) {
        ModelParts parts;
        parts.nodes = {node("Add", {"x", "w"}, {"y"})};
        std::string tensor;
        pbf_writer writer(tensor);
        writer.add_string(8, "w");
        write(writer);
        parts.initializers = {tensor};
        return error_of(parts.bytes());
    };
    EXPECT_EQ(error([](pbf_writer& w) { w.add_int64(1, 2), w.add_int32(2, 1), w.add_bytes(9, "1234567"); }),
              "node \"Add#0\" (Add): initialiser \"w\": 7 bytes of raw data for a tensor of shape 2 and type f32");
    EXPECT_NE(error([](pbf_writer& w) {
                  w.add_int64(1, 2), w.add_int32(2, 1), w.add_float(4, 1);
              }).find("1 values for a tensor of shape 2"),
              std::string::npos);
    EXPECT_EQ(
        error([](pbf_writer& w) { w.add_int64(1, 2), w.add_int32(2, 3), w.add_int32(5, -128), w.add_int32(5, 127); }),
        "");
    EXPECT_NE(error([](pbf_writer& w) {
                  w.add_int64(1, 1), w.add_int32(2, 3), w.add_int32(5, 128);
              }).find("128 does not fit"),
              std::string::npos);
    EXPECT_NE(error([](pbf_writer& w) { w.add_int64(1, -2), w.add_int32(2, 1); }).find("negative"), std::string::npos);
    EXPECT_NE(error([](pbf_writer& w) {
                  for (int i = 0; i < 3; ++i) w.add_int64(1, int64_t{1} << 40);
                  w.add_int32(2, 1);
              }).find("too large"),
              std::string::npos);
    EXPECT_NE(error([](pbf_writer& w) { w.add_int64(1, int64_t{1} << 40), w.add_int32(2, 1); }).find("0 values"),
              std::string::npos);
    EXPECT_NE(
        error([](pbf_writer& w) { w.add_int64(1, 2), w.add_int32(2, 8), w.add_string(6, "text"); }).find("1 strings"),
        std::string::npos);
    EXPECT_NE(error([](pbf_writer& w) { w.add_int32(2, 14), w.add_bytes(9, "x"); }).find("element type number 14"),
              std::string::npos);
    EXPECT_NE(
        error([](pbf_writer& w) { w.add_int64(1, 1), w.add_int32(2, 9), w.add_bytes(9, "\x02"); }).find("boolean"),
        std::string::npos);
}

TEST_F(Import, DeepBranchesAreRefused) {
    std::string inner = node("Neg", {"x"}, {"y"});
    for (int depth = 0; depth < 2000; ++depth) {
        std::string graph;
        pbf_writer(graph).add_message(1, inner);
        std::string attribute;
        pbf_writer writer(attribute);
        writer.add_string(1, "then_branch");
        writer.add_message(6, graph);
        inner = node("If", {"x"}, {"y"});
        pbf_writer(inner).add_message(5, attribute);
    }
    ModelParts parts;
    parts.nodes = {inner};
    EXPECT_NE(error_of(parts.bytes()).find("nested too deeply"), std::string::npos);
}

TEST_F(Import, ExternalDataStaysInsideTheFolder) {
    std::filesystem::create_directories(folder_ + "/sub");
    write_file_atomically(folder_ + "/sub/w.bin", std::string(12, '\0') + std::string("\0\0\x80\x3f\0\0\0\x40", 8));
    write_file_atomically(folder_ + "/outer.bin", std::string(64, 'x'));
    std::filesystem::create_symlink(folder_ + "/outer.bin", folder_ + "/link.bin");
    std::filesystem::create_symlink(folder_ + "/sub", folder_ + "/linked");
    write_file_atomically(folder_ + "/hard.bin", std::string(64, 'x'));
    std::filesystem::create_hard_link(folder_ + "/hard.bin", folder_ + "/hard2.bin");
    ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
    const auto model = [](const std::string& location, const std::string& offset = "", const std::string& length = "") {
        ModelParts parts;
        parts.nodes = {node("Add", {"x", "w"}, {"y"})};
        parts.initializers = {external_tensor("w", location, offset, length)};
        return parts.bytes();
    };
    const Graph graph = import(model("sub/w.bin", "12", "8")).graph;
    EXPECT_EQ(graph.constant(graph.node(0).inputs[1])->at(0), 1);
    EXPECT_EQ(graph.constant(graph.node(0).inputs[1])->at(1), 2);
    const auto refused = [&](const std::string& bytes, const char* why) {
        const std::string error = error_of(bytes);
        EXPECT_NE(error.find(why), std::string::npos) << error;
        EXPECT_NE(error.find("initialiser \"w\""), std::string::npos) << error;
    };
    refused(model("../" + std::filesystem::path(folder_).filename().string() + "/outer.bin"), "not a path inside");
    refused(model(folder_ + "/outer.bin"), "not a path inside");
    refused(model("sub/../outer.bin"), "not a path inside");
    refused(model(""), "not a path inside");
    refused(model(std::string("outer.bin\0x", 11)), "not a path inside");
    refused(model("link.bin"), "links are not followed");
    refused(model("linked/w.bin"), "links are not followed");
    refused(model("hard.bin"), "single name");
    refused(model("pipe"), "not a regular file");
    refused(model("sub"), "not a regular file");
    refused(model("absent.bin"), "No such file");
    refused(model("sub/w.bin", "13"), "lie outside");
    refused(model("sub/w.bin", "9223372036854775807"), "lie outside");
    refused(model("sub/w.bin", "0", "9"), "needs 8 bytes");
    refused(model("sub/w.bin", "-1"), "offset is not a size");
    refused(model("sub/w.bin", "99999999999999999999"), "offset is not a size");
}

TEST_F(Import, TheHashCoversExternalData) {
    ModelParts parts;
    parts.nodes = {node("Add", {"x", "w"}, {"y"})};
    parts.initializers = {external_tensor("w", "w.bin", "", "")};
    write_file_atomically(folder_ + "/w.bin", std::string(8, '\0'));
    const Hash before = import(parts.bytes()).hash;
    EXPECT_EQ(before, import(parts.bytes()).hash);
    write_file_atomically(folder_ + "/w.bin", std::string(8, '\1'));
    EXPECT_NE(before, import(parts.bytes()).hash);
}

// Kibibytes of this process that no file backs.
int64_t anonymous_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8));
    return -1;
}

constexpr int64_t beyond_two_gib = (int64_t{5} << 29) / 4;  // f32 elements of 2.5 GiB

TEST_F(Import, ExternalDataBeyondTwoGibAreMappedNotCopied) {
    {
        std::ofstream file(folder_ + "/w.bin", std::ios::binary);  // a hole with one number at its end
        file.seekp(4 * (beyond_two_gib - 1));
        const float last = 7;
        file.write(reinterpret_cast<const char*>(&last), sizeof last);
    }
    ModelParts parts;
    parts.nodes = {node("Add", {"x", "w"}, {"y"})};
    parts.initializers = {external_tensor("w", "w.bin", "", "", beyond_two_gib)};
    const int64_t before = anonymous_memory();
    const Graph graph = import(parts.bytes()).graph;
    const Tensor& w = *graph.constant(graph.node(0).inputs[1]);
    EXPECT_EQ(w.elements(), beyond_two_gib);
    EXPECT_EQ(w.at(beyond_two_gib - 1), 7);
    EXPECT_EQ(w.at(0), 0);
    ASSERT_GT(before, 0);
    EXPECT_LT(anonymous_memory() - before, 64 << 10);
}

// A tensor without memory: whoever copies it crashes.
TEST_F(Import, MoreThanTwoGibAreNotExported) {
    const auto large = [](int64_t elements) {
        const auto bytes = static_cast<size_t>(elements) * sizeof(float);
        return Tensor(ElementType::f32, Shape{elements},
                      std::span<const std::byte>(static_cast<const std::byte*>(nullptr), bytes), nullptr);
    };
    Graph graph = parse_graph("graph {\n  input %x: f32[2]\n  %y: f32[2] = Neg(%x)\n  output %y\n}");
    graph.add_constant("w", large(beyond_two_gib));
    EXPECT_THROW(export_onnx(graph), UserError);
    Graph halves = parse_graph("graph {\n  input %x: f32[2]\n  %y: f32[2] = Neg(%x)\n  output %y\n}");
    halves.add_constant("a", large(beyond_two_gib / 2));
    halves.node(0).attributes.set("value", large(beyond_two_gib / 2));
    EXPECT_THROW(export_onnx(halves), UserError);
}

TEST_F(Import, GroupsAreExportedAsTheirBodies) {
    const Graph graph = import(onnx(R"(graph {
        input %x: f32[2]
        %y: f32[2], %z: f32[2], %p: f32[2] = Group(%x) {graph {
            input %x: f32[2]
            const %k: f32[2] = {1,2}
            %y: f32[2] = Add(%x, %k) @"add"
            %inner: f32[2] = Neg(%y) @"neg"
            output %inner
            output %inner
            output %x
        }} @"group"
        output %y
        output %z
        output %p
    })"))
                            .graph;
    EXPECT_EQ(graph.node_count(), 4);
    EXPECT_EQ(graph.node(0).op, "Add");
    EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
    EXPECT_EQ(graph.value(graph.node(1).outputs[0]).name, "y");
    EXPECT_EQ(graph.node(2).op, "Identity");
    EXPECT_EQ(graph.value(graph.node(3).inputs[0]).name, "x");
}

}  // namespace
}  // namespace headway
