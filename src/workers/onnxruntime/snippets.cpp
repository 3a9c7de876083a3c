#include "workers/onnxruntime/snippets.h"

#include <string_view>

namespace headway::ort {
namespace {

// Legal in both languages; both read bytes beyond ASCII as UTF-8.
std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (code < 0x20 || code == 0x7f) {
            // octal: three digits at most in both languages
            result += '\\';
            for (const int shift : {6, 3, 0}) result += static_cast<char>('0' + ((code >> shift) & 7));
        } else {
            result += c;
        }
    }
    return result + "\"";
}

const char* level_name(int level) {
    switch (level) {
        case 0:
            return "ORT_DISABLE_ALL";
        case 1:
            return "ORT_ENABLE_BASIC";
        case 2:
            return "ORT_ENABLE_EXTENDED";
        case 3:
            return "ORT_ENABLE_LAYOUT";
        default:
            return "ORT_ENABLE_ALL";
    }
}

constexpr int default_level = 99;

std::string python(const std::string& model, const Options& options) {
    std::string text = "import onnxruntime as ort\n\noptions = ort.SessionOptions()\n";
    text += "options.intra_op_num_threads = " + std::to_string(options.intra_threads) + "\n";
    if (options.graph_level != default_level)
        text += std::string("options.graph_optimization_level = ort.GraphOptimizationLevel.") +
                level_name(options.graph_level) + "\n";
    if (options.inter_threads > 0) {
        text += "options.execution_mode = ort.ExecutionMode.ORT_PARALLEL\n";
        text += "options.inter_op_num_threads = " + std::to_string(options.inter_threads) + "\n";
    }
    if (!options.arena) text += "options.enable_cpu_mem_arena = False\n";
    if (!options.pattern) text += "options.enable_mem_pattern = False\n";
    for (const auto& [symbol, extent] : options.free_dimensions)
        text += "options.add_free_dimension_override_by_name(" + quoted(symbol) + ", " + std::to_string(extent) + ")\n";
    for (const auto& [key, value] : options.config)
        text += "options.add_session_config_entry(" + quoted(key) + ", " + quoted(value) + ")\n";
    return text + "session = ort.InferenceSession(" + quoted(model) +
           ", options, providers=[\"CPUExecutionProvider\"])\n";
}

std::string cpp(const std::string& model, const Options& options) {
    std::string text = "#include <onnxruntime_cxx_api.h>\n\nOrt::Session make_session(Ort::Env& env) {\n";
    text += "    Ort::SessionOptions options;\n";
    text += "    options.SetIntraOpNumThreads(" + std::to_string(options.intra_threads) + ");\n";
    if (options.graph_level != default_level)
        text += std::string("    options.SetGraphOptimizationLevel(") + level_name(options.graph_level) + ");\n";
    if (options.inter_threads > 0) {
        text += "    options.SetExecutionMode(ORT_PARALLEL);\n";
        text += "    options.SetInterOpNumThreads(" + std::to_string(options.inter_threads) + ");\n";
    }
    if (!options.arena) text += "    options.DisableCpuMemArena();\n";
    if (!options.pattern) text += "    options.DisableMemPattern();\n";
    for (const auto& [symbol, extent] : options.free_dimensions)
        text += "    Ort::ThrowOnError(Ort::GetApi().AddFreeDimensionOverrideByName(options, " + quoted(symbol) + ", " +
                std::to_string(extent) + "));\n";
    for (const auto& [key, value] : options.config)
        text += "    options.AddConfigEntry(" + quoted(key) + ", " + quoted(value) + ");\n";
    return text + "    return Ort::Session(env, " + quoted(model) + ", options);\n}\n";
}

}  // namespace

std::vector<Snippet> write_snippets(const std::string& model, const Options& options) {
    return {{"python", python(model, options)}, {"c++", cpp(model, options)}};
}

}  // namespace headway::ort
