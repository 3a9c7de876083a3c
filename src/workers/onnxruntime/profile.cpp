#include "workers/onnxruntime/profile.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/file.h"
#include "base/temporary.h"

namespace headway::ort {

std::vector<StepTime> profile_model(const std::string& model, const Options& options, const std::vector<Tensor>& inputs,
                                    int64_t iterations) {
    const TemporaryFolder folder;
    const Handle<SessionOptions> handle = apply(options);
    api().check(api().enable_profiling(handle.get(), (folder.path() + "/profile").c_str()));
    Runner runner(model, *handle, options.flush_denormals);
    runner.prepare_streams(1, inputs);
    runner.run_stream(0, iterations);
    char* path = nullptr;
    api().check(api().end_profiling(&runner.session(), api().allocator(), &path));
    // One call more: the one that found out the shapes of the outputs.
    return read_profile(read_file(api().take_text(path)), iterations + 1);
}

std::vector<StepTime> read_profile(const std::string& text, int64_t iterations) {
    constexpr std::string_view suffix = "_kernel_time";
    const nlohmann::json events = nlohmann::json::parse(text, nullptr, false);
    if (!events.is_array()) throw UserError("ONNX Runtime's profile is no JSON list");
    std::vector<StepTime> steps;
    std::map<std::string, size_t> by_node;
    try {
        for (const nlohmann::json& event : events) {
            if (event.value("cat", "") != "Node") continue;
            std::string name = event.at("name").get<std::string>();
            if (!name.ends_with(suffix)) continue;
            name.resize(name.size() - suffix.size());
            const auto [found, is_new] = by_node.emplace(name, steps.size());
            if (is_new) steps.push_back({event.at("args").at("op_name").get<std::string>(), {name}, 0});
            steps[found->second].ns += whole<int64_t>(event.at("dur")) * 1000;
        }
    } catch (const nlohmann::json::exception&) {
        throw UserError("ONNX Runtime's profile has an event without name, duration or operator");
    }
    for (StepTime& step : steps) step.ns /= std::max<int64_t>(iterations, 1);
    return steps;
}

}  // namespace headway::ort
