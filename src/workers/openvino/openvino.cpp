// OpenVINO's CPU device as a builder, through its C interface. An engine is a recipe (workers/foreign/recipe.h):
// OpenVINO compiles when it is loaded.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "knobs/route_grammar.h"
#include "onnx/model_hash.h"
#include "workers/builder.h"
#include "workers/described_knobs.h"
#include "workers/foreign/opening.h"
#include "workers/foreign/recipe.h"
#include "workers/foreign/variants.h"
#include "workers/openvino/compiled.h"
#include "workers/openvino/evidence.h"
#include "workers/openvino/knobs.h"
#include "workers/openvino/snippets.h"
#include "workers/sample_files.h"

namespace headway::openvino {
namespace {

constexpr const char* builder_name = "openvino";
constexpr const char* builder_version = "0.1.0";

// Scalar inputs of ONNX files have any rank to OpenVINO: they are scalars unless a shape, several numbers or the data
// say otherwise.
std::vector<PortSpec> with_scalars(std::vector<PortSpec> ports, const OpenRequest& request) {
    for (PortSpec& port : ports) {
        if (port.dims || std::ranges::find(request.shapes, port.name, &ShapeBinding::input) != request.shapes.end())
            continue;
        const auto value = std::ranges::find(request.values, port.name, &ValueBinding::input);
        const bool scalar = value != request.values.end() ? value->values.size() == 1 : request.timing_data.empty();
        if (scalar) port.dims.emplace();
    }
    return ports;
}

std::vector<std::string> names_of(const std::vector<PortSpec>& ports) {
    std::vector<std::string> names;
    for (const PortSpec& port : ports) names.push_back(port.name);
    return names;
}

// What a recipe's route and settings mean to OpenVINO; `file` is the model or the variant.
CompileRequest compile_request(const Recipe& recipe, std::string file) {
    std::map<std::string, std::string> away_from_default;
    for (const route_grammar::Item& item : route_grammar::parse(recipe.route))
        away_from_default[item.knob] = item.value;
    CompileRequest request{std::move(file), recipe.inputs, true, properties_of(away_from_default)};
    const auto shapes = recipe.settings.find(shapes_knob), threads = recipe.settings.find(threads_knob);
    const auto call = recipe.settings.find(call_knob);
    request.asynchronous = call == recipe.settings.end() || call->second == "async";
    request.static_shapes = shapes == recipe.settings.end() || shapes->second == "static";
    if (threads == recipe.settings.end()) throw UserError(std::string("the engine has no setting ") + threads_knob);
    request.properties["INFERENCE_NUM_THREADS"] = threads->second;
    return request;
}

struct Loaded {
    CompiledModel model;
    std::vector<PortSpec> inputs;
    std::vector<std::unique_ptr<Caller>> callers;  // by stream
};

class OpenvinoBuilder final : public Builder {
public:
    BuilderVersion version() override {
        return {builder_name, std::string(builder_version) + ", OpenVINO " + api_.version()};
    }

    OpenedModel open(const OpenRequest& request) override {
        const Target target = target_here(request);
        opened_recipe_ = recipe_builder(request.model).has_value();
        recipe_ = opened_recipe_ ? own_recipe(request.model) : Recipe{};
        if (!opened_recipe_) {
            recipe_.model = std::filesystem::absolute(request.model).string();
            recipe_.model_hash = model_hash(request.model).hex();
        }
        file_ = opened_recipe_ ? find_recipe_model(recipe_, request.model) : recipe_.model;
        const std::vector<PortSpec> declared = opened_recipe_ ? port_specs(recipe_.inputs) : read_inputs();
        const std::vector<PortSpec> bound = bind_ports(request, with_scalars(declared, request));
        timing_inputs_ = timing_inputs(request, bound);
        recipe_.inputs.clear();
        for (size_t k = 0; k < bound.size(); ++k)
            recipe_.inputs.push_back(describe_port(bound[k].name, timing_inputs_[k]));
        variants_.set(request.variants);
        offered_ = offered_knobs(api_, {target.threads, std::ranges::any_of(declared, is_open), variants_.names()});
        knobs_ = DescribedKnobs(offered_);
        return {recipe_.model_hash, target.text(), recipe_.inputs, describe_outputs()};
    }

    BuilderDescription describe() override { return {offered_, {}}; }

    BuiltEngine build(const std::string& route_text, const std::string& engine, const std::string& ledger) override {
        if (opened_recipe_) throw UserError("an engine cannot be built from an engine: give its model");
        const Route route = Route::parse(route_text, knobs_.registry());
        Recipe recipe = recipe_;
        recipe.builder = builder_name;
        recipe.builder_version = builder_version;
        recipe.runtime_version = api_.version();
        recipe.route = route.text();
        recipe.settings = settings_of(route, knobs_.registry());
        variants_.apply(recipe);
        const std::string file = recipe.variant.empty() ? recipe.model : recipe.variant;
        const Evidence evidence = compile_and_run(compile_request(recipe, file), recipe.route.empty());
        const Hash key = timing_key(evidence);
        recipe.timing_key = key.hex();
        recipe.fingerprint =
            Hasher().add(key).add(recipe.variant.empty() ? recipe.model_hash : recipe.variant_hash).finish().hex();
        if (!ledger.empty()) write_file_atomically(ledger, ledger_text(evidence, recipe.settings));
        write_recipe(engine, recipe);
        return {recipe.route, recipe.fingerprint, recipe.timing_key,
                static_cast<int64_t>(std::filesystem::file_size(engine))};
    }

    void load(const std::string& engine, int streams) override {
        if (!engines_.contains(engine)) {
            const Recipe recipe = own_recipe(engine);
            check_inputs(recipe, engine);
            engines_.emplace(engine, std::make_unique<Loaded>(
                                         Loaded{compile(recipe, engine, false), port_specs(recipe.inputs), {}}));
        }
        Loaded& loaded = *engines_.at(engine);
        while (static_cast<int>(loaded.callers.size()) < streams) {
            loaded.callers.push_back(loaded.model.make_caller());
            loaded.callers.back()->set_inputs(timing_inputs_);
        }
    }

    void check(const std::string& engine, const std::string& data, const std::string& out) override {
        Caller& caller = find(engine, 0);
        const Loaded& loaded = *engines_.at(engine);
        caller.set_inputs(read_sample(data, loaded.inputs));
        caller.run();
        write_outputs(out, names_of(loaded.model.outputs()), caller.outputs());
        caller.set_inputs(timing_inputs_);
    }

    void run(const std::string& engine, int64_t iterations, int stream) override {
        Caller& caller = find(engine, stream);
        for (int64_t k = 0; k < iterations; ++k) caller.run();
    }

    // OpenVINO's times are means of all runs since it compiled, so each profile compiles anew, and the first run is
    // taken out again.
    std::vector<StepTime> profile(const std::string& engine, int64_t iterations) override {
        const CompiledModel model = compile(own_recipe(engine), engine, true);
        const std::unique_ptr<Caller> caller = model.make_caller();
        caller->set_inputs(timing_inputs_);
        caller->run();
        const std::vector<NodeTime> first = caller->profile();
        const int64_t runs = std::max<int64_t>(iterations, 1);
        for (int64_t k = 0; k < runs; ++k) caller->run();
        const std::vector<NodeTime> mean = caller->profile();
        HEADWAY_CHECK(first.size() == mean.size());
        std::vector<StepTime> times;
        for (size_t k = 0; k < mean.size(); ++k) {
            const int64_t ns = (mean[k].ns * (runs + 1) - first[k].ns) / runs;
            times.push_back({mean[k].type + " " + mean[k].exec_type, {mean[k].name}, std::max<int64_t>(ns, 0)});
        }
        return times;
    }

    void reference(const std::string& data, const std::string& out) override {
        const CompileRequest request{
            file_,
            recipe_.inputs,
            true,
            {{"INFERENCE_PRECISION_HINT", "f32"}, {"EXECUTION_MODE_HINT", "ACCURACY"}, {"INFERENCE_NUM_THREADS", "1"}}};
        const CompiledModel model(api_, request);
        const std::unique_ptr<Caller> caller = model.make_caller();
        caller->set_inputs(read_sample(data, port_specs(recipe_.inputs)));
        caller->run();
        write_outputs(out, names_of(model.outputs()), caller->outputs());
    }

    std::vector<Snippet> snippets(const std::string& engine) override {
        const Recipe recipe = own_recipe(engine);
        return make_snippets(compile_request(recipe, find_recipe_model(recipe, engine)));
    }

    void certify(const std::string& engine, const std::string& json) override { set_recipe_certificate(engine, json); }

private:
    std::vector<PortSpec> read_inputs() const {
        const Handle<OvCore> core = make_core(api_);
        return ports_of(api_, read_model(api_, core.get(), file_).get()).inputs;
    }

    Recipe own_recipe(const std::string& path) const {
        return read_own_recipe(path, builder_name, "OpenVINO", api_.version());
    }

    // The model of an engine file. OpenVINO's objections are the file's fault: it was built once.
    CompiledModel compile(const Recipe& recipe, const std::string& path, bool with_profile) const {
        CompileRequest request = compile_request(recipe, find_recipe_model(recipe, path));
        if (with_profile) request.properties["PERF_COUNT"] = "YES";
        try {
            return {api_, request};
        } catch (const OvError& error) {
            throw UserError(path + ": OpenVINO rejects the engine: " + error.what());
        }
    }

    // What is timed are the opened model's inputs.
    void check_inputs(const Recipe& recipe, const std::string& path) const {
        const auto same = [](const PortDescription& a, const PortDescription& b) {
            return a.name == b.name && a.type == b.type && a.dims == b.dims;
        };
        if (!std::ranges::equal(recipe.inputs, recipe_.inputs, same))
            throw UserError(path + " was built for other inputs than those of the opened model");
    }

    // Extents that only a run tells come from one.
    std::vector<PortDescription> describe_outputs() const {
        const Handle<OvCore> core = make_core(api_);
        const Handle<OvModel> model = reshape(api_, read_model(api_, core.get(), file_), recipe_.inputs, true);
        const std::vector<PortSpec> outputs = ports_of(api_, model.get()).outputs;
        std::vector<PortDescription> described;
        if (std::ranges::none_of(outputs, is_open)) {
            for (const PortSpec& port : outputs)
                described.push_back({port.name, std::string(to_string(port.type)), *port.dims});
            return described;
        }
        const std::vector<Tensor> tensors = run_once();
        for (size_t k = 0; k < outputs.size(); ++k) described.push_back(describe_port(outputs[k].name, tensors[k]));
        return described;
    }

    std::vector<Tensor> run_once() const {
        try {
            const CompiledModel model(api_, {file_, recipe_.inputs, true, {}});
            const std::unique_ptr<Caller> caller = model.make_caller();
            caller->set_inputs(timing_inputs_);
            caller->run();
            return caller->outputs();
        } catch (const OvError& error) {
            throw Unsupported(std::string("OpenVINO cannot run it: ") + error.what());
        }
    }

    // What OpenVINO rejects at its defaults it does not support; elsewhere the route is at fault.
    Evidence compile_and_run(CompileRequest request, bool is_default) {
        request.properties["PERF_COUNT"] = "YES";
        try {
            const CompiledModel model(api_, request);
            const std::unique_ptr<Caller> caller = model.make_caller();
            caller->set_inputs(timing_inputs_);
            caller->run();
            return gather_evidence(api_, request, model, *caller);
        } catch (const OvError& error) {
            if (is_default) throw Unsupported(std::string("OpenVINO cannot build it: ") + error.what());
            throw Refused(std::string("OpenVINO rejects the route: ") + error.what());
        }
    }

    Caller& find(const std::string& engine, int stream) {
        const auto at = engines_.find(engine);
        if (at == engines_.end() || stream >= static_cast<int>(at->second->callers.size()))
            throw UserError("engine " + engine + " is not loaded for so many streams");
        return *at->second->callers[static_cast<size_t>(stream)];
    }

    Api api_;
    Recipe recipe_;     // what all engines of the opened model have in common
    std::string file_;  // the model, or what an opened engine runs
    bool opened_recipe_ = false;
    std::vector<Tensor> timing_inputs_;
    Variants variants_;
    std::vector<KnobDescription> offered_;
    DescribedKnobs knobs_;
    std::map<std::string, std::unique_ptr<Loaded>> engines_;
};

const BuilderKind openvino{builder_name, "OpenVINO's CPU device, found at run time",
                           [] { return std::unique_ptr<Builder>(std::make_unique<OpenvinoBuilder>()); }};

}  // namespace
}  // namespace headway::openvino
