#include "workers/onnxruntime/options.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.h"
#include "workers/onnxruntime/knobs.h"

namespace headway::ort {
namespace {

using Settings = std::map<std::string, std::string>;

// GraphOptimizationLevel.
const std::map<std::string, int, std::less<>> graph_levels{
    {"disabled", 0}, {"basic", 1}, {"extended", 2}, {"layout", 3}, {"all", 99}};

const std::string& value_of(const Settings& settings, const std::string& knob) {
    const auto found = settings.find(knob);
    if (found == settings.end()) throw UserError("the setting of " + knob + " is missing");
    return found->second;
}

[[noreturn]] void refuse(const std::string& knob, const std::string& value) {
    throw UserError("the setting " + knob + "=" + escaped(value) + " is unknown");
}

int number_of(const Settings& settings, const std::string& knob) {
    const std::string& text = value_of(settings, knob);
    int number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size() || number < 1 || number > 4096) refuse(knob, text);
    return number;
}

// True for the first word, false for the second.
bool is_first(const Settings& settings, const std::string& knob, std::string_view first, std::string_view second) {
    const std::string& value = value_of(settings, knob);
    if (value != first && value != second) refuse(knob, value);
    return value == first;
}

// A name that stands for two extents, as the "?" of some exporters, cannot be overridden by name: it stays open.
std::vector<std::pair<std::string, int64_t>> bound_dimensions(std::span<const PortInfo> ports,
                                                              std::span<const PortDescription> shapes) {
    std::map<std::string, std::set<int64_t>> extents;
    for (const PortInfo& port : ports)
        for (const PortDescription& shape : shapes) {
            if (shape.name != port.spec.name || shape.dims.size() != port.symbols.size()) continue;
            for (size_t axis = 0; axis < port.symbols.size(); ++axis)
                if (!port.symbols[axis].empty()) extents[port.symbols[axis]].insert(shape.dims[axis]);
        }
    std::vector<std::pair<std::string, int64_t>> bound;
    for (const auto& [symbol, values] : extents)
        if (values.size() == 1) bound.emplace_back(symbol, *values.begin());
    return bound;
}

void add_config(Options& options, const Settings& settings) {
    for (const ConfigKnob& knob : config_knobs()) {
        const std::string& word = value_of(settings, knob.name);
        const auto found = std::ranges::find(knob.values, word, [](const auto& value) { return value.first; });
        if (found == knob.values.end()) refuse(knob.name, word);
        if (found != knob.values.begin()) options.config.emplace_back(knob.key, found->second);
    }
    std::string disabled;
    for (const OptimizerKnob& knob : optimizer_knobs())
        if (!is_first(settings, std::string("optimizer.") + knob.name, "on", "off"))
            disabled += (disabled.empty() ? "" : ";") + std::string(knob.name);
    if (!disabled.empty()) options.config.emplace_back("optimization.disable_specified_optimizers", disabled);
}

}  // namespace

Options read_options(const Settings& settings, std::span<const PortInfo> ports,
                     std::span<const PortDescription> shapes) {
    Options options;
    const std::string& level = value_of(settings, "graph.level");
    const auto found = graph_levels.find(level);
    if (found == graph_levels.end()) refuse("graph.level", level);
    options.graph_level = found->second;
    options.intra_threads = number_of(settings, "thread.intra");
    const int inter = number_of(settings, "thread.inter");
    options.inter_threads = is_first(settings, "thread.execution", "sequential", "parallel") ? 0 : inter;
    options.arena = is_first(settings, "memory.arena", "on", "off");
    options.pattern = is_first(settings, "memory.pattern", "on", "off");
    options.flush_denormals = !is_first(settings, "numeric.denormals", "keep", "zero");
    if (!is_first(settings, "graph.free_dimensions", "model", "bound"))
        options.free_dimensions = bound_dimensions(ports, shapes);
    add_config(options, settings);
    return options;
}

Handle<SessionOptions> apply(const Options& options) {
    constexpr int parallel = 1;  // ExecutionMode
    Handle<SessionOptions> handle = api().make_options();
    SessionOptions* raw = handle.get();
    api().check(api().set_graph_level(raw, options.graph_level));
    api().check(api().set_intra_op_threads(raw, options.intra_threads));
    if (options.inter_threads > 0) {
        api().check(api().set_execution_mode(raw, parallel));
        api().check(api().set_inter_op_threads(raw, options.inter_threads));
    }
    if (!options.arena) api().check(api().disable_cpu_arena(raw));
    if (!options.pattern) api().check(api().disable_memory_pattern(raw));
    for (const auto& [symbol, extent] : options.free_dimensions)
        api().check(api().override_free_dimension(raw, symbol.c_str(), extent));
    for (const auto& [key, value] : options.config)
        api().check(api().add_config_entry(raw, key.c_str(), value.c_str()));
    return handle;
}

std::string run_time_text(const Settings& settings, const std::map<std::string, int64_t>& operators) {
    using Acts = ConfigKnob::Acts;
    const bool parallel = value_of(settings, "thread.execution") == "parallel";
    const bool threads = value_of(settings, "thread.intra") != "1";
    std::string text;
    const auto add = [&](const std::string& knob) { text += knob + "=" + value_of(settings, knob) + "\n"; };
    add("thread.intra");
    add("thread.execution");
    if (parallel) add("thread.inter");
    add("memory.arena");
    if (!parallel) add("memory.pattern");  // ONNX Runtime drops the pattern when nodes run side by side
    for (const ConfigKnob& knob : config_knobs()) {
        const bool acts = knob.acts == Acts::at_run || (knob.acts == Acts::with_threads && threads) ||
                          (knob.acts == Acts::with_parallel_nodes && parallel) ||
                          (knob.acts == Acts::in_operator && operators.contains(knob.op));
        if (acts) add(knob.name);
    }
    return text;
}

}  // namespace headway::ort
