#include "compile/compile.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/call_work.h"
#include "graph/verify.h"
#include "lower/lower.h"

namespace headway {
namespace {

void fix_inputs(Plan& plan, const Bindings& bindings) {
    for (Port& port : plan.inputs) {
        const auto bound = bindings.values.find(port.name);
        if (bound == bindings.values.end()) continue;
        const auto bytes = bound->second.bytes();
        port.fixed_value.assign(bytes.begin(), bytes.end());
    }
}

}  // namespace

std::vector<std::string> site_names(const Graph& graph) {
    std::set<std::string> names;
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        const Node& node = graph.node(id);
        if (node.dead) continue;
        names.insert(node.origins.begin(), node.origins.end());
        for (const Subgraph& subgraph : node.subgraphs)
            for (std::string& name : site_names(*subgraph.graph)) names.insert(std::move(name));
    }
    return {names.begin(), names.end()};
}

Plan compile_bound(Graph graph, const Route& route, const Target& target, const Catalogue& catalogue,
                   std::vector<Decision>& ledger) {
    verify_graph(graph, Stage::bound);
    run_pipeline(graph, route, target, catalogue.ops, catalogue.passes, ledger);
    verify_graph(graph, Stage::grouped);
    return lower(graph, route, target, catalogue.kernels, ledger);
}

Build build(const Graph& model, const Bindings& bindings, const Route& route, const Target& target,
            const Catalogue& catalogue) {
    const auto begin = std::chrono::steady_clock::now();
    const CallWork call;
    Build result;
    Graph graph = bind(model, bindings, catalogue.ops);
    result.sites = site_names(graph);
    route.check_sites(result.sites);
    result.plan = compile_bound(std::move(graph), route, target, catalogue, result.ledger);
    fix_inputs(result.plan, bindings);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

std::string ledger_json(const std::vector<Decision>& ledger) {
    nlohmann::json list = nlohmann::json::array();
    for (const Decision& decision : ledger) {
        nlohmann::json entry{{"where", decision.where},
                             {"site", decision.site},
                             {"candidate", decision.candidate},
                             {"taken", decision.taken}};
        if (!decision.verdict) {
            entry["reason"] = to_string(decision.verdict.reason);
            entry["detail"] = decision.verdict.detail;
        }
        if (decision.predicted_us > 0) entry["predicted_us"] = decision.predicted_us;
        list.push_back(std::move(entry));
    }
    return list.dump();
}

}  // namespace headway
