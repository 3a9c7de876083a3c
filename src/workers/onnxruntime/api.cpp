#include "workers/onnxruntime/api.h"

#include <algorithm>

#include "base/error.h"
#include "workers/foreign/library.h"

namespace headway::ort {
namespace {

constexpr uint32_t api_version = 16;
constexpr int errors_only = 3;  // OrtLoggingLevel: its warnings are advice on speed, which is what we measure

// OrtApiBase.
struct ApiBase {
    const void* (*get_api)(uint32_t version);
    const char* (*get_version)();
};

LibrarySearch search() {
    return {.runtime = "ONNX Runtime",
            .variable = "HEADWAY_ONNXRUNTIME",
            .package = "onnxruntime/capi",
            .file = "libonnxruntime.so",
            .loader_names = {"libonnxruntime.so.1", "libonnxruntime.so"},
            .install = "pip install onnxruntime==1.32.0, or tools/bootstrap --peers in a checkout"};
}

// Entry `index` of the table, as the type of the pointer that receives it.
template <class Function>
void take(const void* table, size_t index, Function& function) {
    function = reinterpret_cast<Function>(static_cast<void* const*>(table)[index]);
}

}  // namespace

Api::Api() {
    const Library library(search());
    const auto get_base = reinterpret_cast<const ApiBase* (*)()>(library.symbol("OrtGetApiBase"));
    const ApiBase& base = *get_base();
    version = base.get_version();
    const void* table = base.get_api(api_version);
    if (table == nullptr) throw UserError(library.path() + " is ONNX Runtime " + version + "; at least 1.16 is needed");
    take(table, 2, error_message_);
    take(table, 3, create_env_);
    take(table, 6, disable_telemetry_);
    take(table, 7, create_session_);
    take(table, 10, create_options_);
    take(table, 11, set_optimized_model_path);
    take(table, 13, set_execution_mode);
    take(table, 14, enable_profiling);
    take(table, 17, disable_memory_pattern);
    take(table, 19, disable_cpu_arena);
    take(table, 22, set_log_severity);
    take(table, 23, set_graph_level);
    take(table, 24, set_intra_op_threads);
    take(table, 25, set_inter_op_threads);
    take(table, 30, input_count);
    take(table, 31, output_count);
    take(table, 33, input_type);
    take(table, 34, output_type);
    take(table, 36, input_name);
    take(table, 37, output_name);
    take(table, 49, create_tensor_);
    take(table, 51, tensor_data);
    take(table, 55, as_tensor_info);
    take(table, 60, element_type);
    take(table, 61, rank);
    take(table, 62, dims);
    take(table, 63, symbolic_dims);
    take(table, 65, value_tensor_info);
    take(table, 69, create_cpu_memory_info_);
    take(table, 76, free_memory);
    take(table, 78, default_allocator_);
    take(table, 93, release_status_);
    take(table, 95, release_session_);
    take(table, 96, release_value);
    take(table, 98, release_type);
    take(table, 99, release_tensor_info);
    take(table, 100, release_options_);
    take(table, 110, end_profiling);
    take(table, 124, override_free_dimension);
    take(table, 130, add_config_entry);
    take(table, 133, run_with_binding);
    take(table, 134, create_binding_);
    take(table, 135, release_binding_);
    take(table, 136, bind_input);
    take(table, 137, bind_output);
    take(table, 138, bind_output_to_device);
    take(table, 140, bound_outputs);

    constexpr int arena_allocator = 1, default_memory = 0;  // OrtArenaAllocator, OrtMemTypeDefault
    check(create_env_(errors_only, "headway", &env_));
    check(disable_telemetry_(env_));  // nothing may talk to the network while we measure
    check(create_cpu_memory_info_(arena_allocator, default_memory, &cpu_));
    check(default_allocator_(&allocator_));
}

void Api::check(Status* status) const {
    if (status == nullptr) return;
    std::string message = error_message_(status);
    release_status_(status);
    std::ranges::replace(message, '\n', ' ');
    throw Error(message);
}

std::string Api::take_text(char* text) const {
    std::string copy = text;
    check(free_memory(allocator_, text));
    return copy;
}

Handle<SessionOptions> Api::make_options() const {
    SessionOptions* options = nullptr;
    check(create_options_(&options));
    Handle<SessionOptions> handle(options, release_options_);
    check(set_log_severity(options, errors_only));
    return handle;
}

Handle<Session> Api::make_session(const std::string& model, const SessionOptions& options) const {
    Session* session = nullptr;
    check(create_session_(env_, model.c_str(), &options, &session));
    return {session, release_session_};
}

Handle<IoBinding> Api::make_binding(Session& session) const {
    IoBinding* binding = nullptr;
    check(create_binding_(&session, &binding));
    return {binding, release_binding_};
}

Handle<Value> Api::make_tensor(void* data, size_t bytes, const int64_t* dims, size_t rank, int type) const {
    Value* value = nullptr;
    check(create_tensor_(cpu_, data, bytes, dims, rank, type, &value));
    return own(value);
}

const Api& api() {
    static const Api found;
    return found;
}

}  // namespace headway::ort
