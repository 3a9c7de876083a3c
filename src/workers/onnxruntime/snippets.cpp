#include "workers/onnxruntime/snippets.h"

#include "workers/foreign/string_literal.h"

namespace headway::ort {
namespace {

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
        text += "options.add_free_dimension_override_by_name(" + string_literal(symbol) + ", " +
                std::to_string(extent) + ")\n";
    for (const auto& [key, value] : options.config)
        text += "options.add_session_config_entry(" + string_literal(key) + ", " + string_literal(value) + ")\n";
    return text + "session = ort.InferenceSession(" + string_literal(model) +
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
        text += "    Ort::ThrowOnError(Ort::GetApi().AddFreeDimensionOverrideByName(options, " +
                string_literal(symbol) + ", " + std::to_string(extent) + "));\n";
    for (const auto& [key, value] : options.config)
        text += "    options.AddConfigEntry(" + string_literal(key) + ", " + string_literal(value) + ");\n";
    return text + "    return Ort::Session(env, " + string_literal(model) + ", options);\n}\n";
}

}  // namespace

std::vector<Snippet> write_snippets(const std::string& model, const Options& options) {
    return {{"python", python(model, options)}, {"c++", cpp(model, options)}};
}

}  // namespace headway::ort
