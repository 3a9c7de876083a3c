// The part of OpenVINO's C interface (openvino/c/*.h) that the builder calls, found by name in whatever version is
// installed, so that Headway builds without it. Types are restated here as they are in version 2026.4; a library that
// numbers its element types otherwise is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "tensor/element_type.h"

namespace headway::openvino {

// ov_core_t and so on: only OpenVINO knows what is in them.
struct OvCore;
struct OvModel;
struct OvCompiledModel;
struct OvInferRequest;
struct OvTensor;
struct OvPort;
struct OvPreprocessor;
struct OvInputInfo;
struct OvInputTensorInfo;

using OvStatus = int;       // ov_status_e: 0 is success
using OvElementType = int;  // ov_element_type_e

struct OvVersion {
    const char* build_number;
    const char* description;
};
struct OvShape {
    int64_t rank;
    int64_t* dims;
};
struct OvDimension {
    int64_t min, max;  // equal when the extent is known; max -1 when it is not bounded
};
struct OvPartialShape {
    OvDimension rank;  // max -1 when any rank will do
    OvDimension* dims;
};
struct OvNodeProfile {
    int status;
    int64_t real_time, cpu_time;  // microseconds
    const char *node_name, *exec_type, *node_type;
};
struct OvNodeProfiles {
    OvNodeProfile* nodes;
    size_t size;
};

// A failed call, with OpenVINO's own message on one line.
class OvError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The functions under the names of the headers without `ov_`. Those that return OvStatus are called through `check`.
class Api {
public:
    // Finds the library (HEADWAY_OPENVINO, the Python environments, the system's loader). UserError when there is none,
    // when a function is missing, or when its element types have other numbers.
    Api();

    // OvError unless the status is success; it holds what OpenVINO says about its last failure.
    void check(OvStatus status) const;
    std::string version() const;  // "2026.4.1-22982-..."

    OvStatus (*get_openvino_version)(OvVersion*);
    void (*version_free)(OvVersion*);
    const char* (*get_last_err_msg)();
    const char* (*get_error_info)(OvStatus);
    void (*free)(const char*);

    OvStatus (*core_create)(OvCore**);
    void (*core_free)(OvCore*);
    OvStatus (*core_set_property)(const OvCore*, const char* device, ...);  // name, value: both text
    OvStatus (*core_get_property)(const OvCore*, const char* device, const char* name, char** value);
    OvStatus (*core_read_model)(const OvCore*, const char* model, const char* weights, OvModel**);
    OvStatus (*core_compile_model)(const OvCore*, const OvModel*, const char* device, size_t property_args,
                                   OvCompiledModel**, ...);

    void (*model_free)(OvModel*);
    OvStatus (*model_inputs_size)(const OvModel*, size_t*);
    OvStatus (*model_outputs_size)(const OvModel*, size_t*);
    OvStatus (*model_const_input_by_index)(const OvModel*, size_t, OvPort**);
    OvStatus (*model_const_output_by_index)(const OvModel*, size_t, OvPort**);
    OvStatus (*model_reshape_by_port_indexes)(const OvModel*, const size_t*, const OvPartialShape*, size_t);

    void (*output_const_port_free)(OvPort*);
    OvStatus (*port_get_any_name)(const OvPort*, char**);
    OvStatus (*port_get_element_type)(const OvPort*, OvElementType*);
    OvStatus (*port_get_partial_shape)(const OvPort*, OvPartialShape*);
    void (*partial_shape_free)(OvPartialShape*);

    void (*preprocess_prepostprocessor_free)(OvPreprocessor*);
    OvStatus (*preprocess_prepostprocessor_create)(const OvModel*, OvPreprocessor**);
    OvStatus (*preprocess_prepostprocessor_get_input_info_by_index)(const OvPreprocessor*, size_t, OvInputInfo**);
    OvStatus (*preprocess_prepostprocessor_build)(const OvPreprocessor*, OvModel**);
    void (*preprocess_input_info_free)(OvInputInfo*);
    OvStatus (*preprocess_input_info_get_tensor_info)(const OvInputInfo*, OvInputTensorInfo**);
    void (*preprocess_input_tensor_info_free)(OvInputTensorInfo*);
    OvStatus (*preprocess_input_tensor_info_set_from)(OvInputTensorInfo*, const OvTensor*);

    void (*compiled_model_free)(OvCompiledModel*);
    OvStatus (*compiled_model_get_property)(const OvCompiledModel*, const char* name, char** value);
    OvStatus (*compiled_model_create_infer_request)(const OvCompiledModel*, OvInferRequest**);

    void (*infer_request_free)(OvInferRequest*);
    OvStatus (*infer_request_set_input_tensor_by_index)(OvInferRequest*, size_t, const OvTensor*);
    OvStatus (*infer_request_set_output_tensor_by_index)(OvInferRequest*, size_t, const OvTensor*);
    OvStatus (*infer_request_get_output_tensor_by_index)(const OvInferRequest*, size_t, OvTensor**);
    OvStatus (*infer_request_infer)(OvInferRequest*);
    OvStatus (*infer_request_start_async)(OvInferRequest*);
    OvStatus (*infer_request_wait)(OvInferRequest*);
    OvStatus (*infer_request_get_profiling_info)(const OvInferRequest*, OvNodeProfiles*);
    void (*profiling_info_list_free)(OvNodeProfiles*);

    void (*tensor_free)(OvTensor*);
    OvStatus (*tensor_create)(OvElementType, OvShape, OvTensor**);
    OvStatus (*tensor_create_from_host_ptr)(OvElementType, OvShape, void*, OvTensor**);
    OvStatus (*tensor_get_shape)(const OvTensor*, OvShape*);
    OvStatus (*tensor_get_element_type)(const OvTensor*, OvElementType*);
    OvStatus (*tensor_get_byte_size)(const OvTensor*, size_t*);
    OvStatus (*tensor_data)(const OvTensor*, void**);
    OvStatus (*shape_free)(OvShape*);

private:
    void check_element_types() const;
};

template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

// `make` fills a pointer: owned(api, api.core_free, api.core_create) or with a lambda.
template <class T, class Make>
Handle<T> owned(const Api& api, void (*release)(T*), Make make) {
    T* made = nullptr;
    api.check(make(&made));
    return {made, release};
}

// Text that OpenVINO allocated.
template <class Make>
std::string owned_text(const Api& api, Make make) {
    char* text = nullptr;
    api.check(make(&text));
    std::string copy = text;
    api.free(text);
    return copy;
}

// Unsupported for types that OpenVINO has and Headway has not, and the other way round.
ElementType from_openvino(OvElementType type);
OvElementType to_openvino(ElementType type);

}  // namespace headway::openvino
