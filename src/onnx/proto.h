// An ONNX file as plain structs, exactly as it is written: the first of two steps. Nothing here is checked for meaning;
// names and tensors are views on the file's bytes. Only import.cpp and its parts see these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace headway::proto {

struct Graph;

// AttributeProto.AttributeType
enum class AttributeType {
    undefined = 0,
    real = 1,
    integer = 2,
    text = 3,
    tensor = 4,
    graph = 5,
    reals = 6,
    integers = 7,
    texts = 8,
    type = 13,
};

struct Attribute {
    std::string_view name;
    AttributeType type = AttributeType::undefined;
    float real = 0;
    int64_t integer = 0;
    std::string_view text;
    std::string_view tensor;  // a TensorProto message
    std::string_view graph;   // a GraphProto message
    std::vector<float> reals;
    std::vector<int64_t> integers;
    std::vector<std::string_view> texts;
};

struct Node {
    std::vector<std::string_view> inputs, outputs;
    std::string_view name, op, domain;
    std::vector<Attribute> attributes;
};

struct ValueInfo {
    std::string_view name;
    DeclaredKind kind = DeclaredKind::tensor;
    ElementType type = ElementType::undefined;  // of a sequence or optional: that of its tensors
    std::optional<std::vector<Dim>> dims;
};

struct Graph {
    std::vector<Node> nodes;
    std::vector<ValueInfo> inputs, outputs, inner;
    std::vector<std::string_view> initializers;  // TensorProto messages
};

struct OpsetImport {
    std::string_view domain;
    int64_t version = 0;
};

struct Model {
    int64_t ir_version = 0;
    std::string_view producer;
    std::vector<OpsetImport> opsets;
    std::optional<std::string_view> graph;  // a GraphProto message
    bool has_functions = false;
};

// How many nodes, attributes, values and tensors a file may hold in all: a message of two bytes costs some hundred
// bytes of memory. The largest public models have some 100,000.
inline constexpr int64_t max_items = 4'000'000;

// UserError (damaged) or Unsupported. `budget` counts items down over one file.
Model read_model(std::string_view bytes);
Graph read_graph(std::string_view bytes, int64_t& budget);

}  // namespace headway::proto
