// The C interface over Engine and Context. Every function that can fail catches everything and keeps one line for the
// calling thread.
#include "headway/headway.h"

#include <new>

#include "kernels/kernel.h"
#include "runtime/engine.h"

struct hw_engine {
    std::shared_ptr<const headway::Engine> engine;
    std::string model, fingerprint;
};

struct hw_context {
    headway::Context context;
};

namespace {

using headway::Port;

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

const headway::Registry<headway::Kernel>& kernels() {
    static const headway::Registry<headway::Kernel> registry = headway::declared<headway::Kernel>();
    return registry;
}

const std::vector<Port>& ports(const hw_engine* engine, hw_side side) {
    const headway::Plan& plan = engine->engine->plan();
    return side == HW_INPUT ? plan.inputs : plan.outputs;
}

const Port* port(const hw_engine* engine, hw_side side, size_t index) {
    if (engine == nullptr || index >= ports(engine, side).size()) return nullptr;
    return &ports(engine, side)[index];
}

void require_all(const std::vector<Port>& ports, const void* const* pointers, size_t count, const char* kind) {
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
        auto loaded = headway::Engine::load(path, kernels());
        std::string model = loaded->info().model.hex(), fingerprint = loaded->plan().fingerprint().hex();
        *engine = new hw_engine{std::move(loaded), std::move(model), std::move(fingerprint)};
    });
}

void hw_engine_free(hw_engine* engine) { delete engine; }

const char* hw_engine_info(const hw_engine* engine, const char* name) {
    if (engine == nullptr || name == nullptr) return nullptr;
    const headway::EngineInfo& info = engine->engine->info();
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
    const Port* found = port(engine, side, index);
    return found == nullptr ? nullptr : found->name.c_str();
}

hw_type hw_port_type(const hw_engine* engine, hw_side side, size_t index) {
    const Port* found = port(engine, side, index);
    return found == nullptr ? HW_UNDEFINED : static_cast<hw_type>(found->desc.type);
}

size_t hw_port_rank(const hw_engine* engine, hw_side side, size_t index) {
    const Port* found = port(engine, side, index);
    return found == nullptr ? 0 : found->desc.shape.rank();
}

const int64_t* hw_port_dims(const hw_engine* engine, hw_side side, size_t index) {
    const Port* found = port(engine, side, index);
    return found == nullptr ? nullptr : found->desc.shape.dims().data();
}

size_t hw_port_bytes(const hw_engine* engine, hw_side side, size_t index) {
    const Port* found = port(engine, side, index);
    return found == nullptr ? 0 : static_cast<size_t>(found->desc.bytes());
}

hw_status hw_context_create(const hw_engine* engine, hw_context** context) {
    return guarded([&] {
        require(engine, "engine");
        require(context, "context");
        *context = new hw_context{headway::Context(engine->engine)};
    });
}

void hw_context_free(hw_context* context) { delete context; }

hw_status hw_run(hw_context* context, const void* const* inputs, size_t input_count, void* const* outputs,
                 size_t output_count) {
    return guarded([&] {
        require(context, "context");
        const headway::Plan& plan = context->context.engine().plan();
        require_all(plan.inputs, inputs, input_count, "input");
        require_all(plan.outputs, outputs, output_count, "output");
        context->context.run({reinterpret_cast<const std::byte* const*>(inputs), input_count},
                             {reinterpret_cast<std::byte* const*>(outputs), output_count});
    });
}
