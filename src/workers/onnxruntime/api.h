// ONNX Runtime's C interface without its headers: OrtApi is a table of function pointers that only ever grows at its
// end, so an entry's index is its name. Indices and signatures follow onnxruntime_c_api.h; all of them exist from API
// version 16 on (release 1.16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace headway::ort {

struct Env;
struct Status;
struct MemoryInfo;
struct Session;
struct Value;
struct RunOptions;
struct TypeInfo;
struct TensorInfo;
struct SessionOptions;
struct Allocator;
struct IoBinding;

// What ONNX Runtime answered instead of doing what it was asked, on one line.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

class Api {
public:
    // UserError when there is no library, or one older than 1.16.
    Api();

    // Throws Error unless status is null.
    void check(Status* status) const;
    // A text that ONNX Runtime allocated.
    std::string take_text(char* text) const;

    Handle<SessionOptions> make_options() const;
    Handle<Session> make_session(const std::string& model, const SessionOptions& options) const;
    Handle<IoBinding> make_binding(Session& session) const;
    // A tensor on the caller's memory, which outlives it. `type` is an ElementType, which has ONNX Runtime's numbers.
    Handle<Value> make_tensor(void* data, size_t bytes, const int64_t* dims, size_t rank, int type) const;
    Handle<Value> own(Value* value) const { return {value, release_value}; }
    const MemoryInfo& cpu() const { return *cpu_; }
    Allocator* allocator() const { return allocator_; }

    std::string version;  // "1.32.0"

    Status* (*set_optimized_model_path)(SessionOptions*, const char*);
    Status* (*set_execution_mode)(SessionOptions*, int);
    Status* (*enable_profiling)(SessionOptions*, const char*);
    Status* (*disable_memory_pattern)(SessionOptions*);
    Status* (*disable_cpu_arena)(SessionOptions*);
    Status* (*set_log_severity)(SessionOptions*, int);
    Status* (*set_graph_level)(SessionOptions*, int);
    Status* (*set_intra_op_threads)(SessionOptions*, int);
    Status* (*set_inter_op_threads)(SessionOptions*, int);
    Status* (*override_free_dimension)(SessionOptions*, const char*, int64_t);
    Status* (*add_config_entry)(SessionOptions*, const char*, const char*);
    Status* (*input_count)(const Session*, size_t*);
    Status* (*output_count)(const Session*, size_t*);
    Status* (*input_type)(const Session*, size_t, TypeInfo**);
    Status* (*output_type)(const Session*, size_t, TypeInfo**);
    Status* (*input_name)(const Session*, size_t, Allocator*, char**);
    Status* (*output_name)(const Session*, size_t, Allocator*, char**);
    Status* (*end_profiling)(Session*, Allocator*, char**);
    Status* (*tensor_data)(Value*, void**);
    Status* (*value_tensor_info)(const Value*, TensorInfo**);
    Status* (*as_tensor_info)(const TypeInfo*, const TensorInfo**);  // null for what is no tensor
    Status* (*element_type)(const TensorInfo*, int*);
    Status* (*rank)(const TensorInfo*, size_t*);
    Status* (*dims)(const TensorInfo*, int64_t*, size_t);
    Status* (*symbolic_dims)(const TensorInfo*, const char**, size_t);
    Status* (*run_with_binding)(Session*, const RunOptions*, const IoBinding*);
    Status* (*bind_input)(IoBinding*, const char*, const Value*);
    Status* (*bind_output)(IoBinding*, const char*, const Value*);
    Status* (*bind_output_to_device)(IoBinding*, const char*, const MemoryInfo*);
    Status* (*bound_outputs)(const IoBinding*, Allocator*, Value***, size_t*);
    Status* (*free_memory)(Allocator*, void*);
    void (*release_value)(Value*);
    void (*release_type)(TypeInfo*);
    void (*release_tensor_info)(TensorInfo*);

private:
    Status* (*create_env_)(int, const char*, Env**);
    Status* (*disable_telemetry_)(const Env*);
    Status* (*create_session_)(const Env*, const char*, const SessionOptions*, Session**);
    Status* (*create_options_)(SessionOptions**);
    Status* (*create_tensor_)(const MemoryInfo*, void*, size_t, const int64_t*, size_t, int, Value**);
    Status* (*create_cpu_memory_info_)(int, int, MemoryInfo**);
    Status* (*default_allocator_)(Allocator**);
    Status* (*create_binding_)(Session*, IoBinding**);
    const char* (*error_message_)(const Status*);
    void (*release_status_)(Status*);
    void (*release_session_)(Session*);
    void (*release_options_)(SessionOptions*);
    void (*release_binding_)(IoBinding*);

    // Of the process: never released, since threads of the library may outlive its last user.
    Env* env_ = nullptr;
    MemoryInfo* cpu_ = nullptr;
    Allocator* allocator_ = nullptr;
};

// The one of this process.
const Api& api();

}  // namespace headway::ort
