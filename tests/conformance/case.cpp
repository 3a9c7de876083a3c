#include "case.h"

#include <algorithm>
#include <limits>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "onnx/proto.h"
#include "ops/op.h"

namespace headway::conformance {
namespace {

namespace fs = std::filesystem;

bool is_light(const CaseFiles& files) { return files.path.ends_with(".onnx"); }

// Which message a file holds follows from the model alone.
Datum read_datum(const fs::path& path, DeclaredKind kind) {
    const auto text = std::make_shared<std::string>(read_file(path.string()));
    if (kind == DeclaredKind::sequence) return read_sequence_proto(*text, text);
    if (kind == DeclaredKind::optional) return read_optional_proto(*text, text);
    return read_tensor_datum(*text, text);
}

// What ONNX's runner feeds to light models: 0, 1/n, 2/n, ...
Tensor ramp(const Shape& shape) {
    Tensor tensor(ElementType::f32, shape);
    const int64_t n = tensor.elements();
    for (int64_t i = 0; i < n; ++i) tensor.set(i, static_cast<double>(i) / static_cast<double>(n));
    return tensor;
}

std::string without_suffix(const std::string& path) {
    return path.substr(0, path.size() - std::string(".onnx").size());
}

void add_operators(const proto::Graph& graph, int64_t& budget, std::set<std::string>& operators) {
    for (const proto::Node& node : graph.nodes) {
        const std::string_view domain = node.domain == "ai.onnx" ? std::string_view() : node.domain;
        operators.insert(qualified_name(node.op, domain));
        for (const proto::Attribute& attribute : node.attributes)
            if (!attribute.graph.empty()) add_operators(proto::read_graph(attribute.graph, budget), budget, operators);
    }
}

}  // namespace

std::vector<CaseFiles> find_cases(const std::string& folder) {
    std::error_code failed;
    std::vector<CaseFiles> cases;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        const std::string name = entry.path().filename().string();
        if (fs::exists(entry.path() / "model.onnx")) {
            cases.push_back({name, entry.path().string()});
        } else if (name.starts_with("light_") && name.ends_with(".onnx")) {
            cases.push_back({without_suffix(name), entry.path().string()});
        } else {
            for (const char* kind : {"node", "simple", "pytorch-operator", "pytorch-converted", "light"}) {
                if (name != kind) continue;
                const std::vector<CaseFiles> inner = find_cases(entry.path().string());
                cases.insert(cases.end(), inner.begin(), inner.end());
            }
        }
    }
    if (failed) throw UserError("cannot read the folder " + folder + ": " + failed.message());
    std::ranges::sort(cases, {}, &CaseFiles::name);
    return cases;
}

std::string kind_of_case(const CaseFiles& files) { return fs::path(files.path).parent_path().filename().string(); }

std::string model_file(const CaseFiles& files) { return is_light(files) ? files.path : files.path + "/model.onnx"; }

CaseTolerance tolerance_of(const CaseFiles& files) {
    fs::path stated = fs::path(files.path) / "data.json";
    if (is_light(files))
        stated = fs::path(files.path).parent_path().parent_path() / "real" /
                 ("test_" + files.name.substr(std::string("light_").size())) / "data.json";
    CaseTolerance tolerance;
    const std::vector<std::string> operators = operators_of(files);
    const auto has = [&](const char* op) { return std::ranges::find(operators, op) != operators.end(); };
    if (has("DFT") || has("STFT"))
        tolerance.of_largest = 4 * static_cast<double>(std::numeric_limits<float>::epsilon());
    if (!fs::exists(stated)) return tolerance;
    const auto json = nlohmann::json::parse(read_file(stated.string()), nullptr, false);
    if (!json.is_object()) throw UserError(stated.string() + " is not a JSON object");
    tolerance.rtol = json.value("rtol", tolerance.rtol);
    tolerance.atol = json.value("atol", tolerance.atol);
    return tolerance;
}

std::vector<Datum> read_data(const std::string& prefix, const Graph& graph, const std::vector<ValueId>& values) {
    std::vector<Datum> data;
    for (size_t i = 0;; ++i) {
        const fs::path path = prefix + std::to_string(i) + ".pb";
        if (!fs::exists(path)) return data;
        data.push_back(read_datum(path, i < values.size() ? graph.value(values[i]).kind : DeclaredKind::tensor));
    }
}

std::vector<DataSet> read_data_sets(const CaseFiles& files, const Graph& graph) {
    std::vector<DataSet> sets;
    if (is_light(files)) {
        DataSet set;
        for (ValueId input : graph.inputs) set.inputs.emplace_back(ramp(graph.value(input).shape()));
        set.outputs = read_data(without_suffix(files.path) + "_output_", graph, graph.outputs);
        sets.push_back(std::move(set));
        return sets;
    }
    for (size_t k = 0;; ++k) {
        const std::string folder = files.path + "/test_data_set_" + std::to_string(k);
        if (!fs::exists(folder)) return sets;
        sets.push_back(
            {read_data(folder + "/input_", graph, graph.inputs), read_data(folder + "/output_", graph, graph.outputs)});
    }
}

std::vector<std::string> operators_of(const CaseFiles& files) {
    const std::string bytes = read_file(model_file(files));
    const proto::Model model = proto::read_model(bytes);
    std::set<std::string> operators;
    int64_t budget = proto::max_items;
    if (model.graph) add_operators(proto::read_graph(*model.graph, budget), budget, operators);
    return {operators.begin(), operators.end()};
}

}  // namespace headway::conformance
