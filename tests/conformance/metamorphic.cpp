#include "metamorphic.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "base/rng.h"
#include "onnx/import.h"
#include "random_weights.h"
#include "tensor/random.h"

namespace headway::conformance {
namespace {

using Json = nlohmann::json;

// Of "test_x_expanded" and "test_x_expanded_ver18" the folder of "test_x" beside it, where there is one.
std::optional<std::string> twin_of(const CaseFiles& files) {
    const size_t at = files.name.find("_expanded");
    if (at == std::string::npos) return std::nullopt;
    const std::string twin = files.path.substr(0, files.path.rfind('/') + 1) + files.name.substr(0, at);
    return std::filesystem::exists(twin) ? std::optional(twin) : std::nullopt;
}

struct LoadedCase {
    Graph graph;
    std::vector<Datum> inputs;
};

LoadedCase load(const CaseFiles& files, uint64_t seed, const Catalogue& catalogue) {
    LoadedCase loaded{import_onnx(model_file(files), catalogue.ops).graph, {}};
    if (kind_of_case(files) == "light") {
        loaded.graph = with_random_weights(std::move(loaded.graph), seed);
        for (ValueId input : loaded.graph.inputs)
            loaded.inputs.emplace_back(random_tensor(ElementType::f32, loaded.graph.value(input).shape(), seed));
        return loaded;
    }
    const std::vector<DataSet> sets = read_data_sets(files, loaded.graph);
    if (sets.empty()) throw Unsupported("the case has no data");
    loaded.inputs = sets[0].inputs;
    return loaded;
}

int count_products(const Graph& graph) {
    int count = 0;
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        const std::string& op = graph.node(id).op;
        if (op == "Conv" || op == "MatMul" || op == "Gemm") ++count;
    }
    return std::max(count, 1);
}

Finding run_variant(const Variant& variant) {
    try {
        return variant.run();
    } catch (const Unsupported& error) {
        return {Relation::refused, error.what()};
    } catch (const InternalError& error) {
        return {Relation::crash, error.what()};
    } catch (const std::bad_alloc&) {
        return {Relation::crash, "out of memory"};
    } catch (const std::exception& error) {
        return {Relation::differs, error.what()};
    }
}

// "knob" of "knob conv.algorithm=direct".
std::string sort_of(const std::string& variant) { return variant.substr(0, variant.find(' ')); }

// What one child said of one case.
void collect(const std::string& name, const std::vector<Json>& lines, const Ending& ending,
             MetamorphicResults& results) {
    std::string begun;
    for (const Json& line : lines) {
        if (line.contains("begin")) begun = line.at("begin");
        if (line.contains("not_built")) results.not_built[name] = line.at("not_built");
        if (!line.contains("relation")) continue;
        results.variants.push_back(
            {name, begun, {relation_from_string(line.at("relation").get<std::string>()), line.at("detail")}});
        begun.clear();
    }
    if (ending.kind == Ending::answered) return;
    const Relation relation = ending.kind == Ending::died ? Relation::crash : Relation::timeout;
    results.variants.push_back({name, begun.empty() ? "default" : begun, {relation, ending.detail}});
}

std::string counts_table(const MetamorphicResults& results) {
    std::map<std::string, std::map<Relation, int>> counts;
    for (const VariantResult& result : results.variants) ++counts[sort_of(result.variant)][result.finding.relation];
    std::string text = fmt::format("{:<10}", "variant");
    for (Relation relation : all_relations) text += fmt::format("{:>10}", to_string(relation));
    text += "\n";
    for (const auto& [sort, row] : counts) {
        text += fmt::format("{:<10}", sort);
        for (Relation relation : all_relations)
            text += fmt::format("{:>10}", row.contains(relation) ? row.at(relation) : 0);
        text += "\n";
    }
    return text;
}

}  // namespace

std::vector<CaseFiles> sampled(std::span<const CaseFiles> cases, double percent, uint64_t seed) {
    std::vector<CaseFiles> chosen;
    for (const CaseFiles& files : cases)
        if (Rng(seed ^ hash_text(files.name).high).chance(percent / 100)) chosen.push_back(files);
    return chosen;
}

MetamorphicResults run_metamorphic(std::span<const CaseFiles> cases, const std::string& only, uint64_t seed,
                                   const BatchLimits& limits, const std::function<void(size_t done)>& progress) {
    std::vector<Json> requests;
    for (const CaseFiles& files : cases) {
        requests.push_back(
            {{"do", "metamorphic"}, {"name", files.name}, {"path", files.path}, {"only", only}, {"seed", seed}});
        if (const auto twin = twin_of(files)) requests.back()["twin"] = *twin;
    }
    MetamorphicResults results;
    size_t done = 0;
    run_in_children(requests, limits, [&](size_t k, const std::vector<Json>& lines, const Ending& ending) {
        collect(cases[k].name, lines, ending, results);
        progress(++done);
    });
    std::ranges::stable_sort(results.variants, {}, &VariantResult::case_name);
    return results;
}

Json handle_metamorphic(const Json& request, const std::function<void(const Json&)>& send, const Catalogue& catalogue) {
    const CaseFiles files{request.at("name"), request.at("path")};
    const uint64_t seed = request.at("seed");
    const std::string only = request.at("only");
    std::optional<NativeCase> native;
    std::vector<Tensor> outputs;
    try {
        LoadedCase loaded = load(files, seed, catalogue);
        native.emplace(std::move(loaded.graph), loaded.inputs, catalogue);
        outputs = native->run(native->default_build().plan);
    } catch (const UserError& error) {
        return {{"not_built", error.what()}};
    }
    VariantInput input{*native, outputs, tolerance_of(files), files.name, std::nullopt, seed, catalogue};
    input.tolerance.products = count_products(native->model());
    if (request.contains("twin")) input.twin = CaseFiles{files.name, request.at("twin")};
    for (const Variant& variant : variants_of(input)) {
        if (!variant.name.starts_with(only)) continue;
        send({{"begin", variant.name}});
        const Finding finding = run_variant(variant);
        send({{"relation", to_string(finding.relation)}, {"detail", finding.detail}});
    }
    return Json::object();
}

std::string metamorphic_report(const MetamorphicResults& results, const std::string& command) {
    std::map<std::string, int> refusals;
    for (const auto& [name, reason] : results.not_built) ++refusals["no engine: " + reason];
    std::string failures;
    for (const VariantResult& result : results.variants) {
        const Finding& finding = result.finding;
        if (finding.relation == Relation::refused) ++refusals[sort_of(result.variant) + ": " + finding.detail];
        if (!is_failure(finding.relation)) continue;
        failures += fmt::format("{}: {} {}: {}\n    {} --case {} --variant \"{}\"\n", result.case_name, result.variant,
                                to_string(finding.relation), finding.detail, command, result.case_name, result.variant);
    }
    std::string text;
    for (const auto& [reason, count] : refusals) text += fmt::format("{:>5} refused: {}\n", count, reason);
    return text + failures + counts_table(results);
}

}  // namespace headway::conformance
