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
#include "runtime/engine.h"
#include "runtime/engine_file.h"
#include "tensor/random.h"
#include "workers/builder.h"
#include "workers/sample_files.h"

namespace headway {
namespace {

constexpr const char* builder_version = "0.1.0";

bool has_if(const Graph& graph) {
    for (NodeId id = 0; id < graph.node_count(); ++id)
        if (!graph.node(id).dead && graph.node(id).op == "If") return true;
    return false;
}

PortDescription describe_port(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    return {value.name, std::string(to_string(value.type)), value.shape().dims()};
}

PortDescription describe_port(const Port& port) {
    return {port.name, std::string(to_string(port.desc.type)), port.desc.shape.dims()};
}

std::vector<std::string> names_of(const std::vector<Port>& ports) {
    std::vector<std::string> names;
    for (const Port& port : ports) names.push_back(port.name);
    return names;
}

// One caller of an engine, with memory of its own for inputs and outputs.
class Caller {
public:
    explicit Caller(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)), context_(engine_) {
        for (const Port& port : engine_->plan().outputs) {
            outputs_.emplace_back(port.desc.type, port.desc.shape);
            output_bytes_.push_back(outputs_.back().mutable_bytes().data());
        }
    }

    void set_inputs(const std::vector<Tensor>& inputs) {
        const std::vector<Port>& ports = engine_->plan().inputs;
        if (inputs.size() != ports.size())
            throw UserError("the sample has " + std::to_string(inputs.size()) + " inputs, the engine wants " +
                            std::to_string(ports.size()));
        inputs_.clear();
        input_bytes_.clear();
        for (size_t k = 0; k < ports.size(); ++k) {
            if (inputs[k].type() != ports[k].desc.type || inputs[k].shape() != ports[k].desc.shape)
                throw UserError("input " + escaped(ports[k].name) + " is " + std::string(to_string(inputs[k].type())) +
                                " " + inputs[k].shape().text() + " in the data, the engine was built for " +
                                std::string(to_string(ports[k].desc.type)) + " " + ports[k].desc.shape.text());
            // A copy of its own: aligned, and in memory that the caller would own.
            Tensor copy(inputs[k].type(), inputs[k].shape());
            std::ranges::copy(inputs[k].bytes(), copy.mutable_bytes().begin());
            inputs_.push_back(std::move(copy));
        }
        for (const Tensor& input : inputs_) input_bytes_.push_back(input.bytes().data());
    }

    void run() { context_.run(input_bytes_, output_bytes_); }
    void profile(std::span<int64_t> step_ns) { context_.profile(input_bytes_, output_bytes_, step_ns); }
    const Plan& plan() const { return engine_->plan(); }
    const std::vector<Tensor>& outputs() const { return outputs_; }

private:
    std::shared_ptr<const Engine> engine_;
    Context context_;
    std::vector<Tensor> inputs_, outputs_;
    std::vector<const std::byte*> input_bytes_;
    std::vector<std::byte*> output_bytes_;
};

struct Loaded {
    std::shared_ptr<const Engine> engine;
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
        bound_ = bind(model_.graph, bindings_, catalogue_.ops);
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
        const Build built = headway::build(model_.graph, bindings_, route, target_, catalogue_);
        EngineInfo info;
        info.builder_version = builder_version;
        info.model = model_.hash;
        info.model_name = model_name_;
        info.route = route.text();
        info.target = target_.text();
        info.ledger = ledger_json(built.ledger);
        if (!ledger.empty()) write_file_atomically(ledger, info.ledger);
        write_engine_file(engine, built.plan, info);
        return {info.route, built.plan.fingerprint().hex(), built.plan.timing_key().hex(),
                static_cast<int64_t>(std::filesystem::file_size(engine))};
    }

    void load(const std::string& engine, int streams) override {
        Loaded& loaded = engines_[engine];
        if (!loaded.engine) loaded.engine = Engine::load(engine, catalogue_.kernels);
        while (static_cast<int>(loaded.callers.size()) < streams) {
            auto caller = std::make_unique<Caller>(loaded.engine);
            if (!timing_inputs_.empty()) caller->set_inputs(timing_inputs_);
            loaded.callers.push_back(std::move(caller));
        }
    }

    void check(const std::string& engine, const std::string& data, const std::string& out) override {
        Caller& caller = find(engine, 0);
        caller.set_inputs(read_sample(data, caller.plan().inputs.size()));
        caller.run();
        write_outputs(out, names_of(caller.plan().outputs), caller.outputs());
        if (!timing_inputs_.empty()) caller.set_inputs(timing_inputs_);
    }

    void run(const std::string& engine, int64_t iterations, int stream) override {
        Caller& caller = find(engine, stream);
        for (int64_t k = 0; k < iterations; ++k) caller.run();
    }

    std::vector<StepTime> profile(const std::string& engine, int64_t iterations) override {
        Caller& caller = find(engine, 0);
        const Plan& plan = caller.plan();
        std::vector<int64_t> ns(plan.steps.size(), 0);
        for (int64_t k = 0; k < iterations; ++k) caller.profile(ns);
        std::vector<StepTime> times;
        for (size_t s = 0; s < ns.size(); ++s)
            times.push_back({plan.steps[s].kernel, plan.steps[s].origins, ns[s] / std::max<int64_t>(iterations, 1)});
        return times;
    }

    void reference(const std::string& data, const std::string& out) override {
        const std::vector<Tensor> inputs = read_sample(data, bound_.inputs.size());
        std::vector<std::string> names;
        for (ValueId id : bound_.outputs) names.push_back(bound_.value(id).name);
        write_outputs(out, names, interpret(bound_, inputs, catalogue_.ops));
    }

    void certify(const std::string& engine, const std::string& json) override { set_certificate(engine, json); }

private:
    // An engine by itself: it can be loaded and run, not built.
    OpenedModel open_engine(const OpenRequest& request) {
        const EngineFile file = read_engine_file(request.model);
        OpenedModel opened;
        opened.model_hash = file.info.model.hex();
        opened.target = file.info.target;
        for (const Port& port : file.plan.inputs) opened.inputs.push_back(describe_port(port));
        for (const Port& port : file.plan.outputs) opened.outputs.push_back(describe_port(port));
        if (!request.timing_data.empty()) {
            timing_inputs_ = read_sample(request.timing_data, file.plan.inputs.size());
            return opened;
        }
        for (const Port& port : file.plan.inputs) {
            Tensor tensor = random_tensor(port.desc.type, port.desc.shape, timing_inputs_.size() + 1);
            std::ranges::copy(port.fixed_value, tensor.mutable_bytes().begin());
            timing_inputs_.push_back(std::move(tensor));
        }
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
        const Graph& graph = model_.graph;
        const std::vector<Tensor> sample =
            request.timing_data.empty() ? std::vector<Tensor>{} : read_sample(request.timing_data, graph.inputs.size());
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
        if (!request.timing_data.empty()) {
            timing_inputs_ = read_sample(request.timing_data, bound_.inputs.size());
            return;
        }
        timing_inputs_.clear();
        for (size_t k = 0; k < bound_.inputs.size(); ++k) {
            const Value& input = bound_.value(bound_.inputs[k]);
            const auto fixed = bindings_.values.find(input.name);
            timing_inputs_.push_back(fixed != bindings_.values.end() ? fixed->second
                                                                     : random_tensor(input.type, input.shape(), k + 1));
        }
    }

    Catalogue catalogue_;
    OnnxModel model_;
    std::string model_name_;
    Target target_;
    Bindings bindings_;
    Graph bound_;
    std::vector<Tensor> timing_inputs_;
    std::map<std::string, Loaded> engines_;
};

const BuilderKind native{"native", "Headway's own compiler and runtime",
                         [] { return std::unique_ptr<Builder>(std::make_unique<NativeBuilder>()); }};

}  // namespace
}  // namespace headway
