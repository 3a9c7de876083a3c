#include "run_cases.h"

#include <new>

#include "base/error.h"
#include "closeness.h"
#include "engine_kind.h"
#include "onnx/import.h"

namespace headway::conformance {
namespace {

using Json = nlohmann::json;

struct Judgement {
    Outcome outcome;
    std::string detail;
};

// What the data sets say; errors of the engine are thrown on.
Judgement judge_data_sets(const CaseFiles& files, const EngineKind& engine, bool random, const Catalogue& catalogue) {
    const OnnxModel model = import_onnx(model_file(files), catalogue.ops);
    const CaseTolerance tolerance = tolerance_of(files);
    for (const DataSet& set : read_data_sets(files, model.graph)) {
        const std::vector<Datum> got = engine.run(model.graph, set.inputs, catalogue);
        const auto found = random ? form_difference(got, set.outputs) : difference(got, set.outputs, tolerance);
        if (found) return {Outcome::wrong, *found};
    }
    if (random) return {Outcome::random, "random outputs"};
    return {Outcome::pass, ""};
}

// Messages name files by their paths, which differ from machine to machine.
std::string without_folder(std::string text, const CaseFiles& files) {
    const std::string model = model_file(files);
    const std::string folder = model.substr(0, model.rfind('/') + 1);
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
}

Judgement judge(const CaseFiles& files, const EngineKind& engine, bool random, const Catalogue& catalogue) {
    try {
        return judge_data_sets(files, engine, random, catalogue);
    } catch (const Unsupported& error) {
        return {Outcome::unsupported, error.what()};
    } catch (const InternalError& error) {
        return {Outcome::crash, error.what()};
    } catch (const std::bad_alloc&) {
        return {Outcome::crash, "out of memory"};
    } catch (const std::exception& error) {
        return {Outcome::wrong, error.what()};
    }
}

}  // namespace

Json handle_case(const Json& request, const Catalogue& catalogue) {
    const CaseFiles files{request.at("name"), request.at("path")};
    const Judgement judgement =
        judge(files, engine_kind(request.at("engine")), request.at("random").get<bool>(), catalogue);
    return {{"outcome", to_string(judgement.outcome)}, {"detail", without_folder(judgement.detail, files)}};
}

std::vector<CaseResult> run_cases(std::span<const CaseFiles> cases, const std::string& engine,
                                  const std::function<bool(const std::string& name)>& random, const BatchLimits& limits,
                                  const std::function<void(size_t done)>& progress) {
    std::vector<Json> requests;
    std::vector<CaseResult> results;
    for (const CaseFiles& files : cases) {
        requests.push_back({{"do", "case"},
                            {"name", files.name},
                            {"path", files.path},
                            {"engine", engine},
                            {"random", random(files.name)}});
        results.push_back({files.name});
    }
    size_t done = 0;
    run_in_children(requests, limits, [&](size_t k, const std::vector<Json>& lines, const Ending& ending) {
        CaseResult& result = results[k];
        if (ending.kind == Ending::answered) {
            result.outcome = outcome_from_string(lines.back().at("outcome").get<std::string>());
            result.detail = lines.back().at("detail");
        } else {
            result.outcome = ending.kind == Ending::died ? Outcome::crash : Outcome::timeout;
            result.detail = ending.detail;
        }
        progress(++done);
    });
    return results;
}

}  // namespace headway::conformance
