#include "workers/openvino/knobs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "knobs/knob.h"
#include "workers/foreign/variants.h"
#include "workers/openvino/model.h"

namespace headway::openvino {
namespace {

struct PropertyKnob {
    const char *property, *knob, *family;
    Numerics numerics;
    const char* help;
    std::vector<std::string> values;  // in this order, OpenVINO's default first
    // What holds when nothing is set, for properties that cannot be asked for.
    const char* untold_default = nullptr;
    bool for_open_shapes = false;
};

const std::vector<PropertyKnob>& property_knobs() {
    static const std::vector<PropertyKnob> knobs{
        {"INFERENCE_PRECISION_HINT",
         "format.precision",
         "format",
         Numerics::reduced,
         "Type that floating-point operators compute in (INFERENCE_PRECISION_HINT).",
         {"f32", "bf16", "f16"}},
        {"EXECUTION_MODE_HINT",
         "format.execution_mode",
         "format",
         Numerics::reduced,
         "ACCURACY keeps the types of the model unless format.precision is set, and does not quantise activations "
         "(EXECUTION_MODE_HINT).",
         {"PERFORMANCE", "ACCURACY"}},
        {"DYNAMIC_QUANTIZATION_GROUP_SIZE",
         "format.dynamic_quantization_group",
         "format",
         Numerics::reduced,
         "Elements of an activation that share a scale where weights are 8 or 4 bits wide; 0 does not quantise "
         "(DYNAMIC_QUANTIZATION_GROUP_SIZE).",
         {"32", "0", "64", "128"}},
        {"LP_TRANSFORMS_MODE",
         "rewrite.low_precision",
         "rewrite",
         Numerics::reduced,
         "Whether quantised models run in integers (LP_TRANSFORMS_MODE, which OpenVINO does not document).",
         {"YES", "NO"},
         "YES"},
        {"SNIPPETS_MODE",
         "fusion.snippets",
         "fusion",
         Numerics::reorders,
         "Whether groups of operators are compiled into one kernel (SNIPPETS_MODE, which OpenVINO does not document).",
         {"ENABLE", "DISABLE"},
         "ENABLE"},
        {"CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE",
         "kernel.sparse_weights_rate",
         "kernel",
         Numerics::exact,
         "Share of zeros from which 8-bit weights are kept packed; 1 is never "
         "(CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE).",
         {"1", "0.8", "0.5"}},
        {"PERFORMANCE_HINT",
         "threads.performance_hint",
         "thread",
         Numerics::reorders,
         "What streams and threads are chosen for where they are not set (PERFORMANCE_HINT).",
         {"LATENCY", "THROUGHPUT"}},
        {"NUM_STREAMS",
         "threads.streams",
         "thread",
         Numerics::reorders,
         "Groups of threads that serve callers at the same time (NUM_STREAMS).",
         {"1", "2", "4", "8", "16"}},
        {"TBB_PARTITIONER",
         "threads.partitioner",
         "thread",
         Numerics::reorders,
         "How loops are split over threads; NONE leaves it to OpenVINO (TBB_PARTITIONER).",
         {"NONE", "STATIC", "AUTO"}},
        {"ENABLE_CPU_PINNING",
         "threads.pinning",
         "thread",
         Numerics::exact,
         "Whether threads are bound to processors (ENABLE_CPU_PINNING).",
         {"YES", "NO"}},
        {"ENABLE_CPU_RESERVATION",
         "threads.reservation",
         "thread",
         Numerics::exact,
         "Whether other models of the process keep off these processors (ENABLE_CPU_RESERVATION).",
         {"NO", "YES"}},
        {"ENABLE_HYPER_THREADING",
         "threads.hyper_threading",
         "thread",
         Numerics::exact,
         "Whether both hardware threads of a core are used (ENABLE_HYPER_THREADING).",
         {"YES", "NO"}},
        {"SCHEDULING_CORE_TYPE",
         "threads.core_type",
         "thread",
         Numerics::exact,
         "Kind of cores to run on, for processors that have two (SCHEDULING_CORE_TYPE).",
         {"ANY_CORE", "PCORE_ONLY", "ECORE_ONLY"}},
        {"CPU_DENORMALS_OPTIMIZATION",
         "kernel.denormals_to_zero",
         "kernel",
         Numerics::approximates,
         "Whether denormal numbers count as zero (CPU_DENORMALS_OPTIMIZATION).",
         {"NO", "YES"}},
        {"ENABLE_MMAP",
         "memory.mapped_weights",
         "memory",
         Numerics::exact,
         "Whether weights are mapped from the file rather than read (ENABLE_MMAP).",
         {"YES", "NO"},
         "YES"},
        {"CPU_RUNTIME_CACHE_CAPACITY",
         "memory.shape_cache",
         "memory",
         Numerics::exact,
         "Kernels kept for shapes seen before (CPU_RUNTIME_CACHE_CAPACITY, which OpenVINO does not document).",
         {"5000", "0"},
         "5000",
         true},
    };
    return knobs;
}

std::string ask(const Api& api, const OvCore* core, const char* property) {
    return owned_text(api, [&](char** text) { return api.core_get_property(core, "CPU", property, text); });
}

// What this version uses when nothing is set; nothing when it does not know the property.
std::optional<std::string> default_of(const Api& api, const OvCore* core, const PropertyKnob& knob) {
    try {
        if (knob.untold_default == nullptr) return ask(api, core, knob.property);
        set_property(api, core, knob.property, knob.untold_default);
        return knob.untold_default;
    } catch (const OvError&) {
        return std::nullopt;
    }
}

// Precisions that this machine has no instructions for would silently become others.
bool can_compute_in(const std::string& precision, const std::string& capabilities) {
    const std::string word = precision == "f32" ? "FP32" : precision == "bf16" ? "BF16" : "FP16";
    const std::vector<std::string> words = split(capabilities, ' ');
    return std::ranges::find(words, word) != words.end();
}

KnobDescription describe(const char* name, const char* family, Numerics numerics, const char* help,
                         std::vector<std::string> values) {
    return {name, help, family, std::move(values), std::string(to_string(numerics)), "graph"};
}

std::vector<std::string> thread_counts(int ceiling) {
    std::vector<std::string> counts{std::to_string(ceiling)};
    for (int count = 1; count < ceiling; count *= 2) counts.push_back(std::to_string(count));
    return counts;
}

}  // namespace

std::vector<KnobDescription> offered_knobs(const Api& api, const KnobRequest& request) {
    const Handle<OvCore> core = make_core(api);
    const std::string capabilities = ask(api, core.get(), "OPTIMIZATION_CAPABILITIES");
    std::vector<KnobDescription> offered;
    for (const PropertyKnob& knob : property_knobs()) {
        if (knob.for_open_shapes && !request.open_shapes) continue;
        const std::optional<std::string> standard = default_of(api, core.get(), knob);
        if (!standard) continue;
        std::vector<std::string> values{*standard};
        for (const std::string& value : knob.values) {
            if (value == *standard) continue;
            if (std::string_view(knob.property) == "INFERENCE_PRECISION_HINT" && !can_compute_in(value, capabilities))
                continue;
            if (std::string_view(knob.property) == "NUM_STREAMS" && std::stoi(value) > request.threads) continue;
            values.push_back(value);
        }
        offered.push_back(describe(knob.knob, knob.family, knob.numerics, knob.help, std::move(values)));
    }
    offered.push_back(describe(threads_knob, "thread", Numerics::reorders,
                               "Threads of the engine; the first value is the ceiling that was asked for "
                               "(INFERENCE_NUM_THREADS).",
                               thread_counts(request.threads)));
    offered.push_back(
        describe(call_knob, "thread", Numerics::reorders,
                 "How a caller runs the model: start_async and wait (async), or infer (sync). Which threads "
                 "do the work depends on it.",
                 {"async", "sync"}));
    if (request.open_shapes)
        offered.push_back(describe(shapes_knob, "rewrite", Numerics::reorders,
                                   "Whether the model is reshaped to the inputs' shapes before it is compiled, or "
                                   "keeps its open dimensions.",
                                   {"static", "dynamic"}));
    if (!request.variants.empty()) {
        std::vector<std::string> files{Variants::the_model_itself};
        files.insert(files.end(), request.variants.begin(), request.variants.end());
        offered.push_back(describe(Variants::knob, "format", Numerics::reduced,
                                   "Which file of the model is compiled: the one given or one of its variants.",
                                   std::move(files)));
    }
    return offered;
}

std::map<std::string, std::string> properties_of(const std::map<std::string, std::string>& settings) {
    constexpr std::array others{threads_knob, call_knob, shapes_knob, Variants::knob};
    std::map<std::string, std::string> properties;
    for (const auto& [name, value] : settings) {
        const auto knob = std::ranges::find_if(property_knobs(), [&](const auto& each) { return each.knob == name; });
        if (knob != property_knobs().end())
            properties[knob->property] = value;
        else if (std::ranges::none_of(others, [&](const char* other) { return other == name; }))
            throw UserError("OpenVINO's builder has no knob " + escaped(name));
    }
    return properties;
}

}  // namespace headway::openvino
