// Headway's own compiler and runtime as a builder.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "compile/compile.h"
#include "onnx/import.h"
#include "ops/op.h"
#include "runtime/engine_file.h"
#include "staged/staged_engine.h"
#include "workers/builder.h"
#include "workers/native/caller.h"
#include "workers/native/port_specs.h"
#include "workers/sample_files.h"

namespace headway {
namespace {

constexpr const char* builder_version = "0.1.0";

bool has_if(const Graph& graph) {
    for (NodeId id = 0; id < graph.node_count(); ++id)
        if (!graph.node(id).dead && graph.node(id).op == "If") return true;
    return false;
}

// Open extents are -1.
PortDescription describe_port(const std::string& name, ElementType type, const std::optional<std::vector<Dim>>& dims) {
    PortDescription port{name, std::string(to_string(type)), {}, !dims.has_value()};
    if (dims)
        for (const Dim& dim : *dims) port.dims.push_back(dim.extent);
    return port;
}

PortDescription describe_port(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    return describe_port(value.name, value.type, value.dims);
}

PortDescription describe_port(const Port& port) {
    return {port.name, std::string(to_string(port.desc.type)), port.desc.shape.dims(), false};
}

struct Loaded {
    std::optional<AnyEngine> engine;
    std::vector<std::unique_ptr<Caller>> callers;  // by stream
};

class NativeBuilder final : public Builder {
public:
    BuilderVersion version() override { return {"native", builder_version}; }

    OpenedModel open(const OpenRequest& request) override {
        if (begins_as_engine_file(request.model)) return open_engine(request);
        target_ = Target::parse(request.target);
        const int here = Target::native().threads;
        target_.threads = request.threads > 0 ? request.threads : std::min(target_.threads, here);
        model_name_ = std::filesystem::path(request.model).filename().string();
        model_ = import_onnx(request.model, catalogue_.ops);
        set_bindings(request);
        bind_model(request);
        set_timing_inputs(request);

        OpenedModel opened;
        opened.model_hash = model_.hash.hex();
        opened.target = target_.text();
        for (ValueId id : bound_.inputs) opened.inputs.push_back(describe_port(bound_, id));
        for (ValueId id : bound_.outputs) opened.outputs.push_back(describe_port(bound_, id));
        return opened;
    }

    BuilderDescription describe() override {
        BuilderDescription description;
        for (const KnobBase* knob : catalogue_.knobs)
            description.knobs.push_back(
                {std::string(knob->name()), std::string(knob->help()), std::string(knob->family()), knob->values(),
                 std::string(to_string(knob->numerics())), std::string(to_string(knob->scope()))});
        description.sites = site_names(bound_);
        return description;
    }

    BuiltEngine build(const std::string& route_text, const std::string& engine, const std::string& ledger) override {
        const Route route = Route::parse(route_text, catalogue_.knobs);
        EngineInfo info;
        info.builder_version = builder_version;
        info.model = model_.hash;
        info.model_name = model_name_;
        const EngineFile file =
            is_staged_ ? staged_engine(route, std::move(info)) : planned_engine(route, std::move(info));
        if (!ledger.empty()) write_file_atomically(ledger, file.info.ledger);
        write_engine_file(engine, file.plan, file.info, file.staged);
        const std::string timing_key = is_staged_ ? file.fingerprint().hex() : file.plan.timing_key().hex();
        return {file.info.route, file.fingerprint().hex(), timing_key,
                static_cast<int64_t>(std::filesystem::file_size(engine))};
    }

    void load(const std::string& engine, int streams) override {
        Loaded& loaded = engines_[engine];
        if (!loaded.engine) loaded.engine = load_engine(engine, catalogue_);
        while (static_cast<int>(loaded.callers.size()) < streams) {
            std::unique_ptr<Caller> caller = make_caller(*loaded.engine);
            if (!timing_inputs_.empty()) caller->set_inputs(timing_inputs_);
            loaded.callers.push_back(std::move(caller));
        }
    }

    void check(const std::string& engine, const std::string& data, const std::string& out) override {
        Caller& caller = find(engine, 0);
        caller.set_inputs(read_sample(data, caller.input_count()));
        caller.run();
        write_outputs(out, caller.output_names(), caller.outputs());
        if (!timing_inputs_.empty()) caller.set_inputs(timing_inputs_);
    }

    void run(const std::string& engine, int64_t iterations, int stream) override {
        Caller& caller = find(engine, stream);
        for (int64_t k = 0; k < iterations; ++k) caller.run();
    }

    std::vector<StepTime> profile(const std::string& engine, int64_t iterations) override {
        return find(engine, 0).profile(iterations);
    }

    void reference(const std::string& data, const std::string& out) override {
        const std::vector<Tensor> inputs = read_sample(data, bound_.inputs.size());
        std::vector<std::string> names;
        for (ValueId id : bound_.outputs) names.push_back(bound_.value(id).name);
        write_outputs(out, names, interpret(bound_, inputs, catalogue_.ops));
    }

    void certify(const std::string& engine, const std::string& json) override { set_certificate(engine, json); }

private:
    // Where shapes or what follows from them stay open, the engine is one of open shapes.
    void bind_model(const OpenRequest& request) {
        if (request.ranges.empty()) {
            try {
                bound_ = bind(model_.graph, bindings_, catalogue_.ops);
                return;
            } catch (const Unsupported&) {  // the ledger of the engine will say why
            }
        }
        is_staged_ = true;
        bound_ = bind_inputs(model_.graph, bindings_);
    }

    EngineFile planned_engine(const Route& route, EngineInfo info) const {
        Build built = headway::build(model_.graph, bindings_, route, target_, catalogue_);
        info.route = route.text();
        info.target = target_.text();
        info.ledger = ledger_json(built.ledger);
        return {std::move(built.plan), std::move(info), std::nullopt};
    }

    EngineFile staged_engine(const Route& route, EngineInfo info) const {
        const auto build_with = [&](std::span<const Datum> sample) {
            return build_staged(model_.graph, bindings_, route, target_, catalogue_, info, sample);
        };
        const std::vector<Datum> sample(timing_inputs_.begin(), timing_inputs_.end());
        if (has_timing_data_) return build_with(sample);
        try {
            return build_with(sample);
        } catch (const Unsupported&) {
            throw;
        } catch (const UserError&) {  // made-up inputs may be illegal ones
            return build_with({});
        }
    }

    // An engine by itself: it can be loaded and run, not built.
    OpenedModel open_engine(const OpenRequest& request) {
        OpenedModel opened;
        if (begins_as_staged_file(request.model)) {
            const std::shared_ptr<const StagedEngine> engine = StagedEngine::load(request.model, catalogue_);
            opened.model_hash = engine->info().model.hex();
            opened.target = engine->info().target;
            for (const StagedPort& port : engine->inputs())
                opened.inputs.push_back(describe_port(port.name, port.type, port.dims));
            for (const StagedPort& port : engine->outputs())
                opened.outputs.push_back(describe_port(port.name, port.type, port.dims));
            if (!request.timing_data.empty())
                timing_inputs_ = read_sample(request.timing_data, engine->inputs().size());
            return opened;
        }
        const EngineFile file = read_engine_file(request.model);
        opened.model_hash = file.info.model.hex();
        opened.target = file.info.target;
        for (const Port& port : file.plan.inputs) opened.inputs.push_back(describe_port(port));
        for (const Port& port : file.plan.outputs) opened.outputs.push_back(describe_port(port));
        if (!request.timing_data.empty()) {
            timing_inputs_ = read_sample(request.timing_data, file.plan.inputs.size());
            return opened;
        }
        std::vector<PortSpec> ports;
        for (const Port& port : file.plan.inputs) ports.push_back(spec_of(port));
        timing_inputs_ = generate_samples(ports, 1, 1).at(0).inputs;
        return opened;
    }

    Caller& find(const std::string& engine, int stream) {
        const auto at = engines_.find(engine);
        if (at == engines_.end() || stream >= static_cast<int>(at->second.callers.size()))
            throw UserError("engine " + engine + " is not loaded for so many streams");
        return *at->second.callers[static_cast<size_t>(stream)];
    }

    // What the request fixes; then shapes of what is still open, and the integers on which Ifs may depend, from the
    // sample.
    void set_bindings(const OpenRequest& request) {
        bindings_ = {};
        for (const ShapeBinding& shape : request.shapes) bindings_.shapes[shape.input] = Shape(shape.dims);
        for (const RangeBinding& range : request.ranges)
            for (size_t axis = 0; axis < range.low.size(); ++axis)
                bindings_.ranges[range.input].push_back({range.low[axis], range.high[axis]});
        const Graph& graph = model_.graph;
        const bool has_sample = !request.timing_data.empty() && request.ranges.empty();
        const std::vector<Tensor> sample =
            has_sample ? read_sample(request.timing_data, graph.inputs.size()) : std::vector<Tensor>{};
        const bool branches = has_if(graph);
        for (size_t k = 0; k < sample.size(); ++k) {
            const Value& input = graph.value(graph.inputs[k]);
            bindings_.shapes.emplace(input.name, sample[k].shape());
            const bool small_integer = !is_float(input.type) && sample[k].elements() == 1;
            if (branches && small_integer) bindings_.values.emplace(input.name, sample[k]);
        }
        for (const ValueBinding& value : request.values) {
            const ValueId id = graph.find_value(value.input);
            if (id == no_value) throw UserError("the model has no input named " + escaped(value.input));
            Shape shape = graph.value(id).has_static_shape() ? graph.value(id).shape()
                                                             : Shape{static_cast<int64_t>(value.values.size())};
            if (shape.elements() != static_cast<int64_t>(value.values.size()))
                throw UserError("input " + escaped(value.input) + " has " + std::to_string(shape.elements()) +
                                " elements, the value given has " + std::to_string(value.values.size()));
            Tensor tensor(graph.value(id).type, shape);
            for (size_t k = 0; k < value.values.size(); ++k)
                tensor.set(static_cast<int64_t>(k), static_cast<double>(value.values[k]));
            bindings_.values[value.input] = tensor;
        }
    }

    void set_timing_inputs(const OpenRequest& request) {
        has_timing_data_ = !request.timing_data.empty();
        if (has_timing_data_) {
            timing_inputs_ = read_sample(request.timing_data, bound_.inputs.size());
            return;
        }
        timing_inputs_.clear();
        std::vector<PortSpec> ports;
        for (ValueId id : bound_.inputs) {
            const Value& input = bound_.value(id);
            if (!input.has_static_shape()) return;  // what an open input may hold, only data can say
            const auto fixed = bindings_.values.find(input.name);
            ports.push_back({input.name, input.type, input.shape().dims(),
                             fixed == bindings_.values.end() ? std::nullopt : std::optional(fixed->second)});
        }
        timing_inputs_ = generate_samples(ports, 1, 1).at(0).inputs;
    }

    Catalogue catalogue_;
    OnnxModel model_;
    std::string model_name_;
    Target target_;
    Bindings bindings_;
    Graph bound_;
    bool is_staged_ = false;
    bool has_timing_data_ = false;
    std::vector<Tensor> timing_inputs_;
    std::map<std::string, Loaded> engines_;
};

const BuilderKind native{"native", "Headway's own compiler and runtime",
                         [] { return std::unique_ptr<Builder>(std::make_unique<NativeBuilder>()); }};

}  // namespace
}  // namespace headway
