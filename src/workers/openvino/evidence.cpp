#include "workers/openvino/evidence.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace headway::openvino {
namespace {

// Change how the nodes are run, not which nodes there are.
constexpr const char* acting_properties[] = {"INFERENCE_NUM_THREADS", "NUM_STREAMS",
                                             "ENABLE_CPU_PINNING",    "ENABLE_CPU_RESERVATION",
                                             "SCHEDULING_CORE_TYPE",  "ENABLE_HYPER_THREADING",
                                             "TBB_PARTITIONER",       "CPU_DENORMALS_OPTIMIZATION"};

bool has_type(const std::vector<NodeTime>& nodes, std::string_view type) {
    return std::ranges::any_of(nodes, [&](const NodeTime& node) { return node.type == type; });
}

// OpenVINO names nodes that it makes itself by a counter of the process, Transpose_4711: the number after an underscore
// is replaced by its rank among those seen so far, so that building again gives the same names.
class Names {
public:
    std::string normalised(std::string_view name) {
        std::string result;
        for (size_t at = 0; at < name.size();) {
            size_t end = at;
            while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end]))) ++end;
            if (end > at && at > 0 && name[at - 1] == '_') {
                const std::string number(name.substr(at, end - at));
                result += std::to_string(ranks_.try_emplace(number, ranks_.size()).first->second);
                at = end;
            } else {
                end = std::max(end, at + 1);
                result += name.substr(at, end - at);
                at = end;
            }
        }
        return result;
    }

private:
    std::map<std::string, size_t> ranks_;
};

}  // namespace

Evidence gather_evidence(const Api& api, const CompileRequest& request, const CompiledModel& model,
                         const Caller& caller) {
    Evidence evidence{api.version(), request.inputs, caller.profile(), {}};
    const auto note = [&](const char* name) { evidence.settings[name] = model.property(name); };
    for (const char* name : acting_properties) note(name);
    if (has_type(evidence.nodes, "FullyConnectedCompressed")) note("DYNAMIC_QUANTIZATION_GROUP_SIZE");
    // those that cannot be asked for: where weights lie, and what is kept between runs of open shapes
    const auto asked = [&](const char* name) {
        if (const auto at = request.properties.find(name); at != request.properties.end())
            evidence.settings[name] = at->second;
    };
    evidence.settings["call"] = request.asynchronous ? "async" : "sync";
    asked("ENABLE_MMAP");
    if (!request.static_shapes) asked("CPU_RUNTIME_CACHE_CAPACITY");
    return evidence;
}

Hash timing_key(const Evidence& evidence) {
    Hasher hasher;
    hasher.add("openvino").add(evidence.version);
    for (const PortDescription& input : evidence.inputs) {
        hasher.add(input.name).add(input.type).add(static_cast<int64_t>(input.dims.size()));
        for (int64_t dim : input.dims) hasher.add(dim);
    }
    Names names;
    for (const NodeTime& node : evidence.nodes)
        hasher.add(names.normalised(node.name)).add(node.type).add(node.exec_type);
    for (const auto& [name, value] : evidence.settings) hasher.add(name).add(value);
    return hasher.finish();
}

std::string ledger_text(const Evidence& evidence, const std::map<std::string, std::string>& settings) {
    std::map<std::string, int> by_exec_type;
    nlohmann::json nodes = nlohmann::json::array();
    for (const NodeTime& node : evidence.nodes) {
        ++by_exec_type[node.exec_type];
        nodes.push_back({{"name", node.name}, {"type", node.type}, {"exec_type", node.exec_type}});
    }
    const nlohmann::json ledger{
        {"runtime", "OpenVINO"},         {"runtime_version", evidence.version}, {"settings", settings},
        {"in_force", evidence.settings}, {"nodes_by_exec_type", by_exec_type},  {"nodes", nodes}};
    // names come from the model's file and need not be UTF-8
    return ledger.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace headway::openvino
