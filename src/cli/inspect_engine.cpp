#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/inspect.h"
#include "staged/staged_engine.h"

namespace headway {
namespace {

struct Memory {
    int64_t constants = 0;
    int64_t inputs = 0, outputs = 0;
    int64_t intermediate = 0;  // of all arena buffers together, as if none shared bytes
};

Memory memory_of(const Plan& plan) {
    Memory memory;
    for (const Constant& constant : plan.constants)
        memory.constants += static_cast<int64_t>(constant.bytes.size_bytes());
    for (const Port& port : plan.inputs) memory.inputs += port.desc.bytes();
    for (const Port& port : plan.outputs) memory.outputs += port.desc.bytes();
    for (const Buffer& buffer : plan.buffers)
        if (buffer.place == Place::arena) memory.intermediate += buffer.desc.bytes();
    return memory;
}

std::string desc_text(const TensorDesc& desc) {
    const std::string layout = desc.layout == Layout::plain ? "" : " " + std::string(to_string(desc.layout));
    return fmt::format("{} {}{}", to_string(desc.type), desc.shape.text(), layout);
}

std::string origins_text(const Step& step) {
    constexpr size_t most_shown = 4;
    std::string text;
    for (size_t i = 0; i < std::min(step.origins.size(), most_shown); ++i)
        text += (i > 0 ? " + " : "") + escaped(step.origins[i]);
    if (step.origins.size() > most_shown) text += fmt::format(" + {} more", step.origins.size() - most_shown);
    return text;
}

std::string outputs_text(const Plan& plan, const Step& step) {
    std::string text;
    for (const int32_t id : step.dst)
        if (id >= 0) text += (text.empty() ? "" : ", ") + desc_text(plan.buffers[static_cast<size_t>(id)].desc);
    return text;
}

int64_t packed_bytes(const Plan& plan, const Step& step) {
    int64_t bytes = 0;
    for (const int32_t id : step.packed)
        bytes += static_cast<int64_t>(plan.constants[static_cast<size_t>(id)].bytes.size_bytes());
    return bytes;
}

std::string choices_text(const Step& step) {
    std::string text;
    for (const auto& [name, value] : step.choices.values()) text += fmt::format(" {}={}", name, value);
    return text;
}

nlohmann::ordered_json port_json(const Port& port) {
    return {{"name", escaped(port.name)},
            {"type", to_string(port.desc.type)},
            {"dims", port.desc.shape.dims()},
            {"fixed", !port.fixed_value.empty()}};
}

// Open extents are -1; no dims where not even the rank is known.
nlohmann::ordered_json port_json(const Value& value) {
    nlohmann::ordered_json json{{"name", escaped(value.name)}, {"type", to_string(value.type)}};
    if (!value.dims) return json;
    json["dims"] = nlohmann::ordered_json::array();
    for (const Dim& dim : *value.dims) json["dims"].push_back(dim.extent);
    return json;
}

std::string staged_text(const EngineFile& file) {
    const StagedPart& staged = *file.staged;
    return fmt::format(
        "  open shapes  compiled when they are met, for the last {} of each part; parts of fewer than {} elements run "
        "by\n"
        "               references\n  graph\n{}\n",
        staged.kept_shapes, staged.compile_from, staged.graph);
}

std::string size_text(int64_t bytes) {
    if (bytes < 10'000) return fmt::format("{} B", bytes);
    return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string engine_text(const EngineFile& file) {
    const Plan& plan = file.plan;
    const EngineInfo& info = file.info;
    const Memory memory = memory_of(plan);
    std::string text = fmt::format(
        "engine by {} {}\n  model        {} ({})\n  route        {}\n  fingerprint  {}\n  timing key   {}\n",
        info.builder, info.builder_version, info.model.hex(), escaped(info.model_name),
        info.route.empty() ? "(default)" : escaped(info.route), file.fingerprint().hex(), plan.timing_key().hex());
    text += fmt::format("  threads      {} ({} pool)\n", plan.settings.threads, plan.settings.pool);
    for (const Port& port : plan.inputs)
        text += fmt::format("  input        {}  {}{}\n", escaped(port.name), desc_text(port.desc),
                            port.fixed_value.empty() ? "" : ", fixed to one value");
    for (const Port& port : plan.outputs)
        text += fmt::format("  output       {}  {}\n", escaped(port.name), desc_text(port.desc));
    text += fmt::format("  memory       arena {} (values without sharing {}), constants {}\n",
                        size_text(plan.arena_bytes), size_text(memory.intermediate), size_text(memory.constants));
    text += fmt::format("  certificate  {}\n", info.certificate.empty() ? "none: not gated, no claim" : "present");
    text += "  target\n";
    for (const std::string& line : split(trimmed(info.target), '\n')) text += "    " + escaped(line) + "\n";
    if (file.staged) return text + staged_text(file);
    text += fmt::format("  {} {}\n", plan.steps.size(), plan.steps.size() == 1 ? "step" : "steps");
    for (size_t i = 0; i < plan.steps.size(); ++i) {
        const Step& step = plan.steps[i];
        text += fmt::format("  {:>4} {:<28} -> {}  [{}]", i, step.kernel, outputs_text(plan, step), origins_text(step));
        if (const int64_t bytes = packed_bytes(plan, step); bytes > 0)
            text += fmt::format(" {} packed", size_text(bytes));
        text += choices_text(step) + "\n";
    }
    return text;
}

nlohmann::ordered_json engine_json(const EngineFile& file) {
    const Plan& plan = file.plan;
    const EngineInfo& info = file.info;
    const Memory memory = memory_of(plan);
    nlohmann::ordered_json json = {{"kind", "engine"},
                                   {"builder", info.builder},
                                   {"builder_version", info.builder_version},
                                   {"model", info.model.hex()},
                                   {"model_name", escaped(info.model_name)},
                                   {"route", escaped(info.route)},
                                   {"target", escaped(info.target)},
                                   {"fingerprint", file.fingerprint().hex()},
                                   {"timing_key", plan.timing_key().hex()},
                                   {"threads", plan.settings.threads},
                                   {"pool", plan.settings.pool},
                                   {"memory",
                                    {{"arena", plan.arena_bytes},
                                     {"unshared", memory.intermediate},
                                     {"constants", memory.constants},
                                     {"inputs", memory.inputs},
                                     {"outputs", memory.outputs}}}};
    json["inputs"] = json["outputs"] = json["steps"] = nlohmann::ordered_json::array();
    if (file.staged) {
        const Graph graph = staged_graph(file);
        for (ValueId id : graph.inputs) json["inputs"].push_back(port_json(graph.value(id)));
        for (ValueId id : graph.outputs) json["outputs"].push_back(port_json(graph.value(id)));
        return json;
    }
    for (const Port& port : plan.inputs) json["inputs"].push_back(port_json(port));
    for (const Port& port : plan.outputs) json["outputs"].push_back(port_json(port));
    for (const Step& step : plan.steps) {
        nlohmann::ordered_json origins = nlohmann::ordered_json::array();
        for (const std::string& origin : step.origins) origins.push_back(escaped(origin));
        json["steps"].push_back({{"kernel", step.kernel},
                                 {"outputs", outputs_text(plan, step)},
                                 {"origins", origins},
                                 {"packed_bytes", packed_bytes(plan, step)},
                                 {"choices", step.choices.values()}});
    }
    return json;
}

}  // namespace headway
