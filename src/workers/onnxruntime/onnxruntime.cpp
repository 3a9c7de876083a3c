// ONNX Runtime as a builder: a route is a set of its session options, an engine is the recipe of a session.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/temporary.h"
#include "base/text.h"
#include "onnx/model_hash.h"
#include "workers/described_knobs.h"
#include "workers/foreign/opening.h"
#include "workers/foreign/recipe.h"
#include "workers/foreign/variants.h"
#include "workers/onnxruntime/knobs.h"
#include "workers/onnxruntime/optimized_graph.h"
#include "workers/onnxruntime/options.h"
#include "workers/onnxruntime/profile.h"
#include "workers/onnxruntime/session.h"
#include "workers/onnxruntime/snippets.h"
#include "workers/sample_files.h"

namespace headway::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* builder_name = "onnxruntime";
constexpr const char* builder_version = "0.1.0";

// A session that changes nothing about the model and sums in one order: what ports are read from and references are
// computed with.
Handle<SessionOptions> plain_options() {
    Options options;
    options.graph_level = 0;
    return apply(options);
}

std::vector<PortSpec> specs_of(const std::vector<PortInfo>& ports) {
    std::vector<PortSpec> specs;
    for (const PortInfo& port : ports) specs.push_back(port.spec);
    return specs;
}

// Whether a port takes what a bound port of the model takes.
bool takes(const PortSpec& port, const PortSpec& bound) {
    return port.name == bound.name && port.type == bound.type &&
           std::ranges::equal(*port.dims, *bound.dims,
                              [](int64_t declared, int64_t given) { return declared < 0 || declared == given; });
}

class OnnxRuntimeBuilder final : public Builder {
public:
    OnnxRuntimeBuilder() { api(); }

    BuilderVersion version() override {
        return {builder_name, std::string(builder_version) + " onnxruntime " + api().version};
    }

    OpenedModel open(const OpenRequest& request) override {
        const Target target = target_here(request);
        OpenRequest bound = request;
        if (recipe_builder(request.model)) {
            const Recipe recipe = own_recipe(request.model);
            bound.model = find_recipe_model(recipe, request.model);
            for (const PortDescription& input : recipe.inputs) bound.shapes.push_back({input.name, input.dims});
            hash_ = recipe.model_hash;
        } else {
            hash_ = model_hash(request.model).hex();
            model_ = fs::absolute(request.model).string();
        }
        variants_.set(request.variants);
        try {
            plain_ = std::make_unique<Runner>(bound.model, *plain_options(), false);
            ports_ = bind_ports(bound, specs_of(plain_->inputs()));
            timing_inputs_ = timing_inputs(bound, ports_);
            for (size_t k = 0; k < ports_.size(); ++k) ports_[k].dims = timing_inputs_[k].shape().dims();
            knobs_ = describe_knobs(target.threads, variants_.names());
            described_ = DescribedKnobs(knobs_);
            return describe_opened(target);
        } catch (const Error& error) {
            throw Unsupported(request.model + ": " + error.what());
        }
    }

    BuilderDescription describe() override { return {knobs_, {}}; }

    BuiltEngine build(const std::string& route_text, const std::string& engine, const std::string& ledger) override {
        if (model_.empty()) throw UserError("an engine cannot be built again: give its model");
        const Route route = Route::parse(route_text, described_.registry());
        Recipe recipe;
        recipe.builder = builder_name;
        recipe.builder_version = builder_version;
        recipe.runtime_version = api().version;
        recipe.model = model_;
        recipe.model_hash = hash_;
        recipe.inputs = inputs_;
        recipe.route = route.text();
        recipe.settings = settings_of(route, described_.registry());
        variants_.apply(recipe);
        OptimizedGraph graph;
        try {
            graph = optimize(recipe);
        } catch (const Error& error) {
            if (recipe.route.empty()) throw Unsupported(error.what());
            throw Refused(error.what());
        }
        const std::string at_run = run_time_text(recipe.settings, graph.operators);
        recipe.fingerprint = key(graph.content, at_run);
        recipe.timing_key = key(graph.structure, at_run);
        if (!ledger.empty()) write_file_atomically(ledger, ledger_json(recipe, graph));
        write_recipe(engine, recipe);
        return {recipe.route, recipe.fingerprint, recipe.timing_key, static_cast<int64_t>(fs::file_size(engine))};
    }

    void load(const std::string& engine, int streams) override {
        auto at = engines_.find(engine);
        if (at == engines_.end()) {
            const Recipe recipe = own_recipe(engine);
            const std::string model = find_recipe_model(recipe, engine);
            at = engines_.emplace(engine, make_engine(recipe, model)).first;
        }
        at->second.runner->prepare_streams(streams, timing_inputs_);
    }

    void check(const std::string& engine, const std::string& data, const std::string& out) override {
        Runner& runner = *find(engine).runner;
        const std::vector<Tensor> outputs = runner.run(read_sample(data, ports_));
        write_outputs(out, runner.output_names(), outputs);
    }

    void run(const std::string& engine, int64_t iterations, int stream) override {
        find(engine).runner->run_stream(stream, iterations);
    }

    std::vector<StepTime> profile(const std::string& engine, int64_t iterations) override {
        const Engine& loaded = find(engine);
        return profile_model(loaded.model, loaded.options, timing_inputs_, iterations);
    }

    void reference(const std::string& data, const std::string& out) override {
        write_outputs(out, plain_->output_names(), plain_->run(read_sample(data, ports_)));
    }

    std::vector<Snippet> snippets(const std::string& engine) override {
        const Recipe recipe = own_recipe(engine);
        return write_snippets(find_recipe_model(recipe, engine), options_of(recipe));
    }

    void certify(const std::string& engine, const std::string& json) override { set_recipe_certificate(engine, json); }

private:
    struct Engine {
        std::string model;
        Options options;
        std::unique_ptr<Runner> runner;
    };

    static std::string key(const Hash& graph, const std::string& at_run) {
        return Hasher().add(builder_name).add(api().version).add(graph).add(at_run).finish().hex();
    }

    static Recipe own_recipe(const std::string& path) {
        return read_own_recipe(path, builder_name, "ONNX Runtime", api().version);
    }

    OpenedModel describe_opened(const Target& target) {
        OpenedModel opened;
        opened.model_hash = hash_;
        opened.target = target.text();
        for (size_t k = 0; k < ports_.size(); ++k)
            opened.inputs.push_back(describe_port(ports_[k].name, timing_inputs_[k]));
        inputs_ = opened.inputs;
        const std::vector<Tensor> outputs = plain_->run(timing_inputs_);
        for (size_t k = 0; k < outputs.size(); ++k)
            opened.outputs.push_back(describe_port(plain_->outputs()[k].spec.name, outputs[k]));
        return opened;
    }

    Options options_of(const Recipe& recipe) const {
        return read_options(recipe.settings, plain_->inputs(), recipe.inputs);
    }

    // Builds the session, which proves that it can be built, and reads what became of the graph.
    OptimizedGraph optimize(const Recipe& recipe) const {
        const TemporaryFolder folder;
        const std::string dump = folder.path() + "/optimized.onnx";
        const Options options = options_of(recipe);
        const Handle<SessionOptions> handle = apply(options);
        api().check(api().set_optimized_model_path(handle.get(), dump.c_str()));
        // Constants in a file of their own: a protobuf file ends at 2 GB.
        api().check(api().add_config_entry(handle.get(), "session.optimized_model_external_initializers_file_name",
                                           "constants"));
        api().check(api().add_config_entry(handle.get(),
                                           "session.optimized_model_external_initializers_min_size_in_bytes", "1024"));
        const std::string& model = recipe.variant.empty() ? recipe.model : recipe.variant;
        const Runner runner(model, *handle, options.flush_denormals);
        check_ports(runner, model);
        return read_optimized_graph(dump);
    }

    // A variant must take the same inputs and give outputs of the same names.
    void check_ports(const Runner& runner, const std::string& model) const {
        if (runner.inputs().size() != ports_.size())
            throw Refused(model + " has " + std::to_string(runner.inputs().size()) + " inputs, the model " +
                          std::to_string(ports_.size()));
        for (size_t k = 0; k < ports_.size(); ++k)
            if (!takes(runner.inputs()[k].spec, ports_[k]))
                throw Refused(model + ": input " + std::to_string(k) + " is not the model's " +
                              escaped(ports_[k].name));
        if (runner.output_names() != plain_->output_names()) throw Refused(model + " has other outputs than the model");
    }

    Engine make_engine(const Recipe& recipe, const std::string& model) const {
        if (recipe.inputs.size() != ports_.size()) throw UserError("the engine was built for another number of inputs");
        for (size_t k = 0; k < ports_.size(); ++k)
            if (recipe.inputs[k].name != ports_[k].name || recipe.inputs[k].dims != *ports_[k].dims)
                throw UserError("input " + escaped(ports_[k].name) + " is " + timing_inputs_[k].shape().text() +
                                " in the data, the engine was built for " + Shape(recipe.inputs[k].dims).text());
        Engine engine{model, options_of(recipe), nullptr};
        engine.runner = std::make_unique<Runner>(model, *apply(engine.options), engine.options.flush_denormals);
        return engine;
    }

    static std::string ledger_json(const Recipe& recipe, const OptimizedGraph& graph) {
        nlohmann::ordered_json json{{"runtime", "ONNX Runtime"}, {"runtime_version", recipe.runtime_version}};
        json["settings"] = recipe.settings;
        json["nodes"] = graph.operators;
        return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    Engine& find(const std::string& engine) {
        const auto at = engines_.find(engine);
        if (at == engines_.end()) throw UserError("engine " + engine + " is not loaded");
        return at->second;
    }

    std::string model_, hash_;  // the path; empty when an engine was opened
    Variants variants_;
    std::unique_ptr<Runner> plain_;
    std::vector<PortSpec> ports_;  // every extent known
    std::vector<PortDescription> inputs_;
    std::vector<Tensor> timing_inputs_;
    std::vector<KnobDescription> knobs_;
    DescribedKnobs described_;
    std::map<std::string, Engine> engines_;
};

const BuilderKind onnxruntime{builder_name, "ONNX Runtime, by its session options",
                              [] { return std::unique_ptr<Builder>(std::make_unique<OnnxRuntimeBuilder>()); }};

}  // namespace
}  // namespace headway::ort
