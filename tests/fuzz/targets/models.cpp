// ONNX files: the importer, then shape rules and references or the compiler and its kernels on what it made of them.
#include "graph/text.h"
#include "graphs.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "target.h"

namespace headway::fuzz {
namespace {

Graph imported(std::string_view bytes) { return import_onnx(as_file(bytes), catalogue().ops).graph; }

const Target import_target{{
    .name = "onnx_import",
    .run = [](std::string_view bytes) { print_graph(imported(bytes), 8); },
    .is_protobuf = true,
}};

const Target interpret_target{{
    .name = "onnx_interpret",
    .run = [](std::string_view bytes) { interpret_graph(imported(bytes)); },
    .is_protobuf = true,
}};

const Target build_target{{
    .name = "onnx_build",
    .run = [](std::string_view bytes) { build_and_run(imported(bytes)); },
    .is_protobuf = true,
}};

// What is read can be printed, and what is printed reads back as the same.
void read_text(std::string_view bytes) {
    const Graph graph = parse_graph(bytes);
    const std::string text = print_graph(graph, 1 << 20);
    HEADWAY_CHECK(print_graph(parse_graph(text), 1 << 20) == text);
    interpret_graph(graph);
}

const Target text_target{{.name = "graph_text", .run = read_text}};

}  // namespace
}  // namespace headway::fuzz
