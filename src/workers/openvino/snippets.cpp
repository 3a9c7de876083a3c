#include "workers/openvino/snippets.h"

#include "base/text.h"
#include "workers/foreign/string_literal.h"

namespace headway::openvino {
namespace {

constexpr const char* of_the_core = "ENABLE_MMAP";

std::string dims_text(const std::vector<int64_t>& dims) {
    std::vector<std::string> words;
    for (int64_t dim : dims) words.push_back(std::to_string(dim));
    return join(words, ", ");
}

// `{KEY<between>VALUE}` for all properties that belong to compiling.
std::string device_properties(const CompileRequest& request, const char* open, const char* between, const char* close) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : request.properties)
        if (name != of_the_core)
            entries.push_back(open + string_literal(name) + between + string_literal(value) + close);
    return join(entries, ", ");
}

std::string shapes(const CompileRequest& request, const char* open, const char* begin, const char* end) {
    std::vector<std::string> entries;
    for (const PortDescription& input : request.inputs)
        entries.push_back(open + string_literal(input.name) + begin + dims_text(input.dims) + end);
    return join(entries, ", ");
}

std::string python(const CompileRequest& request) {
    std::string text = "import openvino as ov\n\ncore = ov.Core()\n";
    if (const auto at = request.properties.find(of_the_core); at != request.properties.end())
        text += "core.set_property({" + string_literal(of_the_core) + ": " + string_literal(at->second) + "})\n";
    text += "model = core.read_model(" + string_literal(request.model) + ")\n";
    if (request.static_shapes) text += "model.reshape({" + shapes(request, "", ": [", "]") + "})\n";
    return text + "compiled = core.compile_model(model, \"CPU\", {" + device_properties(request, "", ": ", "") +
           "})\nrequest = compiled.create_infer_request()\n\n\ndef run(inputs):  # arrays by the names of the model's "
           "inputs\n" +
           (request.asynchronous ? "    request.start_async(inputs)\n    request.wait()\n    return request.results\n"
                                 : "    return request.infer(inputs)\n");
}

std::string cpp(const CompileRequest& request) {
    std::string text = "#include <openvino/openvino.hpp>\n\n// To be run by " +
                       std::string(request.asynchronous ? "start_async() and wait()" : "infer()") +
                       ".\nov::InferRequest make_request() {\n    ov::Core core;\n";
    if (const auto at = request.properties.find(of_the_core); at != request.properties.end())
        text += "    core.set_property({{" + string_literal(of_the_core) + ", " + string_literal(at->second) + "}});\n";
    text += "    const std::shared_ptr<ov::Model> model = core.read_model(" + string_literal(request.model) + ");\n";
    if (request.static_shapes)
        text += "    model->reshape(std::map<std::string, ov::PartialShape>{" +
                shapes(request, "{", ", ov::PartialShape{", "}}") + "});\n";
    return text + "    ov::CompiledModel compiled =\n        core.compile_model(model, \"CPU\", ov::AnyMap{" +
           device_properties(request, "{", ", ", "}") + "});\n    return compiled.create_infer_request();\n}\n";
}

}  // namespace

std::vector<Snippet> make_snippets(const CompileRequest& request) {
    return {{"python", python(request)}, {"c++", cpp(request)}};
}

}  // namespace headway::openvino
