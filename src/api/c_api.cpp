// The C interface over engines of both kinds. Every function that can fail catches everything and keeps one line for
// the calling thread.
#include "headway/headway.h"

#include <algorithm>
#include <new>

#include "staged/any_engine.h"

namespace {

// One input or output as callers see it.
struct ApiPort {
    std::string name;
    headway::ElementType type;
    bool is_ranked = true;
    std::vector<int64_t> dims;  // -1: open
    size_t bytes = 0;           // 0: open
};

}  // namespace

struct hw_engine {
    headway::AnyEngine engine;
    std::vector<ApiPort> inputs, outputs;
    std::string model, fingerprint;

    const headway::EngineInfo& info() const {
        return std::visit([](const auto& loaded) -> const headway::EngineInfo& { return loaded->info(); }, engine);
    }
};

struct hw_context {
    headway::AnyContext context;
    std::vector<headway::Tensor> outputs;  // of the last hw_run_tensors
};

namespace {

thread_local std::string last_error;

hw_status failed(hw_status status, const char* message) noexcept {
    try {
        last_error = message;
    } catch (const std::bad_alloc&) {
        last_error.clear();
    }
    return status;
}

template <class F>
hw_status guarded(F&& body) noexcept {
    try {
        body();
        return HW_OK;
    } catch (const headway::UserError& error) {
        return failed(HW_USER_ERROR, error.what());
    } catch (const std::bad_alloc&) {
        return failed(HW_USER_ERROR, "out of memory");
    } catch (const std::exception& error) {
        return failed(HW_INTERNAL_ERROR, error.what());
    } catch (...) {
        return failed(HW_INTERNAL_ERROR, "unknown error");
    }
}

void require(const void* pointer, const char* name) {
    if (pointer == nullptr) throw headway::UserError(std::string(name) + " is NULL");
}

const headway::Catalogue& catalogue() {
    static const headway::Catalogue everything;
    return everything;
}

ApiPort port_of(const headway::Port& port) {
    return {port.name, port.desc.type, true, port.desc.shape.dims(), static_cast<size_t>(port.desc.bytes())};
}

ApiPort port_of(const headway::StagedPort& port) {
    ApiPort result{port.name, port.type, port.dims.has_value(), {}, 0};
    if (!port.dims) return result;
    for (const headway::Dim& dim : *port.dims) result.dims.push_back(dim.extent);
    const bool is_open = std::ranges::any_of(result.dims, [](int64_t extent) { return extent < 0; });
    if (!is_open)
        result.bytes = static_cast<size_t>(headway::TensorDesc{port.type, headway::Shape(result.dims)}.bytes());
    return result;
}

template <class Ports>
std::vector<ApiPort> ports_of(const Ports& ports) {
    std::vector<ApiPort> list;
    for (const auto& port : ports) list.push_back(port_of(port));
    return list;
}

std::unique_ptr<hw_engine> load(const std::string& path) {
    auto engine = std::make_unique<hw_engine>(hw_engine{headway::load_engine(path, catalogue()), {}, {}, {}, {}});
    const auto describe = [&](const auto& inputs, const auto& outputs, const headway::Hash& fingerprint) {
        engine->inputs = ports_of(inputs);
        engine->outputs = ports_of(outputs);
        engine->fingerprint = fingerprint.hex();
    };
    if (const auto* planned = std::get_if<headway::PlannedPointer>(&engine->engine)) {
        const headway::Plan& plan = (*planned)->plan();
        describe(plan.inputs, plan.outputs, plan.fingerprint());
    } else {
        const headway::StagedEngine& staged = *std::get<headway::StagedPointer>(engine->engine);
        describe(staged.inputs(), staged.outputs(), staged.fingerprint());
    }
    engine->model = engine->info().model.hex();
    return engine;
}

const std::vector<ApiPort>& ports(const hw_engine* engine, hw_side side) {
    return side == HW_INPUT ? engine->inputs : engine->outputs;
}

const ApiPort* port(const hw_engine* engine, hw_side side, size_t index) {
    if (engine == nullptr || index >= ports(engine, side).size()) return nullptr;
    return &ports(engine, side)[index];
}

// A view on the caller's memory.
headway::Tensor tensor_of(const hw_tensor& tensor, size_t index) {
    const std::string name = "input " + std::to_string(index);
    const auto type = static_cast<headway::ElementType>(tensor.type);
    if (headway::size_of(type) == 0) throw headway::UserError(name + " has an element type that is not handled");
    if (tensor.rank > 0) require(tensor.dims, (name + ": dims").c_str());
    const headway::Shape shape(std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank));
    if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; }))
        throw headway::UserError(name + " has a negative extent");
    const auto bytes = static_cast<size_t>(headway::TensorDesc{type, shape}.bytes());
    if (bytes > 0) require(tensor.data, name.c_str());
    return {type, shape, {static_cast<const std::byte*>(tensor.data), bytes}, nullptr};
}

void require_all(const std::vector<headway::Port>& ports, const void* const* pointers, size_t count, const char* kind) {
    if (count != ports.size())
        throw headway::UserError("the engine has " + std::to_string(ports.size()) + " " + kind + "s, given were " +
                                 std::to_string(count));
    for (size_t i = 0; i < count; ++i)
        if (pointers[i] == nullptr && ports[i].desc.bytes() > 0)
            throw headway::UserError(std::string(kind) + " " + ports[i].name + " is NULL");
}

}  // namespace

const char* hw_version(void) { return HEADWAY_VERSION; }

const char* hw_last_error(void) { return last_error.c_str(); }

hw_status hw_engine_load(const char* path, hw_engine** engine) {
    return guarded([&] {
        require(path, "path");
        require(engine, "engine");
        *engine = load(path).release();
    });
}

void hw_engine_free(hw_engine* engine) { delete engine; }

const char* hw_engine_info(const hw_engine* engine, const char* name) {
    if (engine == nullptr || name == nullptr) return nullptr;
    const headway::EngineInfo& info = engine->info();
    const std::string_view wanted = name;
    if (wanted == "builder") return info.builder.c_str();
    if (wanted == "model") return engine->model.c_str();
    if (wanted == "route") return info.route.c_str();
    if (wanted == "target") return info.target.c_str();
    if (wanted == "fingerprint") return engine->fingerprint.c_str();
    if (wanted == "ledger") return info.ledger.c_str();
    if (wanted == "certificate") return info.certificate.c_str();
    return nullptr;
}

size_t hw_port_count(const hw_engine* engine, hw_side side) {
    return engine == nullptr ? 0 : ports(engine, side).size();
}

const char* hw_port_name(const hw_engine* engine, hw_side side, size_t index) {
    const ApiPort* found = port(engine, side, index);
    return found == nullptr ? nullptr : found->name.c_str();
}

hw_type hw_port_type(const hw_engine* engine, hw_side side, size_t index) {
    const ApiPort* found = port(engine, side, index);
    return found == nullptr ? HW_UNDEFINED : static_cast<hw_type>(found->type);
}

size_t hw_port_rank(const hw_engine* engine, hw_side side, size_t index) {
    const ApiPort* found = port(engine, side, index);
    return found == nullptr ? 0 : found->dims.size();
}

const int64_t* hw_port_dims(const hw_engine* engine, hw_side side, size_t index) {
    const ApiPort* found = port(engine, side, index);
    return found == nullptr || !found->is_ranked ? nullptr : found->dims.data();
}

size_t hw_port_bytes(const hw_engine* engine, hw_side side, size_t index) {
    const ApiPort* found = port(engine, side, index);
    return found == nullptr ? 0 : found->bytes;
}

hw_status hw_context_create(const hw_engine* engine, hw_context** context) {
    return guarded([&] {
        require(engine, "engine");
        require(context, "context");
        *context = new hw_context{headway::AnyContext(engine->engine), {}};
    });
}

void hw_context_free(hw_context* context) { delete context; }

hw_status hw_run(hw_context* context, const void* const* inputs, size_t input_count, void* const* outputs,
                 size_t output_count) {
    return guarded([&] {
        require(context, "context");
        headway::Context* const planned = context->context.planned();
        if (planned == nullptr)
            throw headway::UserError("an engine of open shapes needs the shapes of the inputs: call hw_run_tensors");
        const headway::Plan& plan = planned->engine().plan();
        require_all(plan.inputs, inputs, input_count, "input");
        require_all(plan.outputs, outputs, output_count, "output");
        planned->run({reinterpret_cast<const std::byte* const*>(inputs), input_count},
                     {reinterpret_cast<std::byte* const*>(outputs), output_count});
    });
}

hw_status hw_run_tensors(hw_context* context, const hw_tensor* inputs, size_t input_count) {
    return guarded([&] {
        require(context, "context");
        if (input_count > 0) require(inputs, "inputs");
        context->outputs.clear();
        std::vector<headway::Tensor> tensors;
        for (size_t i = 0; i < input_count; ++i) tensors.push_back(tensor_of(inputs[i], i));
        context->outputs = context->context.run(tensors);
    });
}

hw_status hw_output(const hw_context* context, size_t index, hw_tensor* output) {
    return guarded([&] {
        require(context, "context");
        require(output, "output");
        if (index >= context->outputs.size())
            throw headway::UserError("the last run left " + std::to_string(context->outputs.size()) + " outputs");
        const headway::Tensor& tensor = context->outputs[index];
        *output = {static_cast<hw_type>(tensor.type()), tensor.shape().rank(), tensor.shape().dims().data(),
                   tensor.bytes().data()};
    });
}
