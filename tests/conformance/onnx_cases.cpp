// onnx_cases FOLDER [--expected FILE] [--only TEXT]: runs every case of an ONNX backend-test folder (CASE/model.onnx,
// CASE/test_data_set_k/{input,output}_i.pb) through the interpreter and compares.
//
// FILE lists the cases that do not pass, one `name reason...` a line, `fails` or `unsupported` first in the reason. A
// case that does better than its line says fails the run too, so that the list stays true.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "onnx/import.h"
#include "ops/op.h"
#include "tensor/compare.h"
#include "tensor/datum.h"
#include "tensor/tensor_proto.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// What ONNX's own runner uses; half types get what their width allows.
constexpr double rtol = 1e-3;
constexpr double atol = 1e-7;
constexpr double half_rtol = 1e-2;
constexpr double half_atol = 1e-3;

struct Outcome {
    std::string status;  // passes, fails, unsupported
    std::string detail;
};

// Which message a file holds follows from the model alone.
Datum read_datum(const fs::path& path, DeclaredKind kind) {
    const auto text = std::make_shared<std::string>(read_file(path.string()));
    if (kind == DeclaredKind::sequence) return read_sequence_proto(*text, text);
    if (kind == DeclaredKind::optional) return read_optional_proto(*text, text);
    return read_tensor_proto(*text, text).tensor;
}

std::vector<Datum> read_data(const fs::path& folder, const std::string& stem, const Graph& graph,
                             const std::vector<ValueId>& values) {
    std::vector<Datum> data;
    for (size_t i = 0;; ++i) {
        const fs::path path = folder / (stem + std::to_string(i) + ".pb");
        if (!fs::exists(path)) return data;
        data.push_back(read_datum(path, i < values.size() ? graph.value(values[i]).kind : DeclaredKind::tensor));
    }
}

std::optional<std::string> difference(const Tensor& got, const Tensor& want) {
    if (got.type() != want.type()) return "has type " + std::string(to_string(got.type()));
    if (got.shape() != want.shape()) return "has shape " + got.shape().text() + " instead of " + want.shape().text();
    const bool half = is_float(got.type()) && size_of(got.type()) == 2;
    const Difference found = compare_tensors(got, want, half ? half_rtol : rtol, half ? half_atol : atol);
    if (found.mismatches == 0) return std::nullopt;
    return std::to_string(found.mismatches) + " of " + std::to_string(found.elements) + " elements differ, by up to " +
           std::to_string(found.max_abs);
}

std::optional<std::string> difference(const Datum& got, const Datum& want) {
    if (got.index() != want.index()) return "is " + std::string(kind_of(got));
    if (const auto* tensor = std::get_if<Tensor>(&got)) return difference(*tensor, std::get<Tensor>(want));
    if (!std::holds_alternative<Sequence>(got)) return std::nullopt;
    const std::vector<Tensor>& tensors = std::get<Sequence>(got).tensors;
    const std::vector<Tensor>& wanted = std::get<Sequence>(want).tensors;
    if (tensors.size() != wanted.size()) return "holds " + std::to_string(tensors.size()) + " tensors";
    for (size_t i = 0; i < tensors.size(); ++i)
        if (const auto found = difference(tensors[i], wanted[i])) return "tensor " + std::to_string(i) + " " + *found;
    return std::nullopt;
}

Outcome run_case(const fs::path& folder, const Registry<Op>& ops) {
    try {
        const OnnxModel model = import_onnx((folder / "model.onnx").string(), ops);
        for (int set = 0;; ++set) {
            const fs::path data = folder / ("test_data_set_" + std::to_string(set));
            if (!fs::exists(data)) return {"passes", ""};
            const std::vector<Datum> inputs = read_data(data, "input_", model.graph, model.graph.inputs);
            const std::vector<Datum> want = read_data(data, "output_", model.graph, model.graph.outputs);
            const std::vector<Datum> got = interpret_data(model.graph, inputs, ops);
            if (got.size() != want.size()) return {"fails", "another number of outputs"};
            for (size_t i = 0; i < want.size(); ++i)
                if (const auto found = difference(got[i], want[i]))
                    return {"fails", "output " + std::to_string(i) + " " + *found};
        }
    } catch (const Unsupported& error) {
        return {"unsupported", error.what()};
    } catch (const std::exception& error) {
        return {"fails", error.what()};
    }
}

std::map<std::string, std::string> read_expected(const std::string& path) {
    std::map<std::string, std::string> expected;
    if (path.empty()) return expected;
    for (const std::string& line : split(read_file(path), '\n')) {
        const std::vector<std::string> words = split(trimmed(line), ' ');
        if (words.size() >= 2 && words[0][0] != '#') expected[words[0]] = words[1];
    }
    return expected;
}

int run(const std::string& cases, const std::string& expected_file, const std::string& only) {
    const Registry<Op> ops = declared<Op>();
    const std::map<std::string, std::string> expected = read_expected(expected_file);
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(cases))
        if (fs::exists(entry.path() / "model.onnx") && entry.path().filename().string().find(only) != std::string::npos)
            folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    std::map<std::string, int> counts;
    int surprises = 0;
    for (const fs::path& folder : folders) {
        const std::string name = folder.filename().string();
        const Outcome outcome = run_case(folder, ops);
        ++counts[outcome.status];
        const auto listed = expected.find(name);
        const bool foreseen = outcome.status == (listed == expected.end() ? "passes" : listed->second);
        if (!foreseen) ++surprises;
        if (!foreseen || (outcome.status != "passes" && expected_file.empty()))
            std::printf("%s %s %s\n", name.c_str(), outcome.status.c_str(), outcome.detail.c_str());
    }
    std::printf("%zu cases: %d pass, %d fail, %d unsupported; %d not as listed\n", folders.size(), counts["passes"],
                counts["fails"], counts["unsupported"], surprises);
    return surprises == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) {
    std::string cases, expected, only;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--expected" && i + 1 < argc)
            expected = argv[++i];
        else if (word == "--only" && i + 1 < argc)
            only = argv[++i];
        else
            cases = word;
    }
    if (cases.empty()) {
        std::fprintf(stderr, "usage: onnx_cases FOLDER [--expected FILE] [--only TEXT]\n");
        return 2;
    }
    try {
        return headway::run(cases, expected, only);
    } catch (const headway::UserError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
