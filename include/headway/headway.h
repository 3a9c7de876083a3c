/* Headway's C interface: load an engine file, ask for its ports, run it.
 *
 * Engines are immutable and may be shared by threads; each thread that runs one has a context of its own. Functions
 * that can fail return a hw_status; hw_last_error() then has one line for the calling thread. No exception crosses this
 * interface. Handles are opaque, and new functions may be added; existing ones keep their meaning within one SONAME.
 * headway.hpp is the same for C++. */
#ifndef HEADWAY_H
#define HEADWAY_H

#include <stddef.h>
#include <stdint.h>

#if defined(HEADWAY_BUILDING_LIBRARY)
#define HEADWAY_API __attribute__((visibility("default")))
#else
#define HEADWAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HW_VERSION_MAJOR 0
#define HW_VERSION_MINOR 1
#define HW_VERSION_PATCH 0

typedef struct hw_engine hw_engine;
typedef struct hw_context hw_context;

typedef enum hw_status {
    HW_OK = 0,
    HW_USER_ERROR = 2,     /* a bad file, wrong inputs, too little memory: the caller can do something about it */
    HW_INTERNAL_ERROR = 70 /* a bug of Headway's */
} hw_status;

/* Element types have ONNX's numbers (TensorProto.DataType). In memory an element of fewer than eight bits takes a byte
 * of its own: 2- and 4-bit integers as the 8-bit integer of their value, HW_F4E2M1 in the low four bits. */
typedef enum hw_type {
    HW_UNDEFINED = 0,
    HW_F32 = 1,
    HW_U8 = 2,
    HW_I8 = 3,
    HW_U16 = 4,
    HW_I16 = 5,
    HW_I32 = 6,
    HW_I64 = 7,
    HW_BOOL = 9,
    HW_F16 = 10,
    HW_F64 = 11,
    HW_U32 = 12,
    HW_U64 = 13,
    HW_BF16 = 16,
    HW_F8E4M3FN = 17,
    HW_F8E4M3FNUZ = 18,
    HW_F8E5M2 = 19,
    HW_F8E5M2FNUZ = 20,
    HW_U4 = 21,
    HW_I4 = 22,
    HW_F4E2M1 = 23,
    HW_F8E8M0 = 24,
    HW_U2 = 25,
    HW_I2 = 26
} hw_type;

typedef enum hw_side { HW_INPUT = 0, HW_OUTPUT = 1 } hw_side;

/* "0.1.0": of the library that is loaded, which may differ from HW_VERSION_*. */
HEADWAY_API const char* hw_version(void);
/* What went wrong in the calling thread's last failed call; valid until its next one. "" when none failed. */
HEADWAY_API const char* hw_last_error(void);

/* The caller frees what it loaded or created. An engine may be freed before its contexts: they keep what they need. */
HEADWAY_API hw_status hw_engine_load(const char* path, hw_engine** engine);
HEADWAY_API void hw_engine_free(hw_engine* engine);
/* One fact about an engine as text that lives as long as it: "builder", "model", "route", "target", "fingerprint",
 * "ledger", "certificate". NULL for other names. */
HEADWAY_API const char* hw_engine_info(const hw_engine* engine, const char* name);

/* Inputs and outputs, in the model's order. For an index that is out of range: NULL, HW_UNDEFINED or 0. In an engine of
 * open shapes an extent that may differ from call to call is -1, the bytes of such a port are 0, and where not even the
 * rank is known the dims are NULL. */
HEADWAY_API size_t hw_port_count(const hw_engine* engine, hw_side side);
HEADWAY_API const char* hw_port_name(const hw_engine* engine, hw_side side, size_t index);
HEADWAY_API hw_type hw_port_type(const hw_engine* engine, hw_side side, size_t index);
HEADWAY_API size_t hw_port_rank(const hw_engine* engine, hw_side side, size_t index);
HEADWAY_API const int64_t* hw_port_dims(const hw_engine* engine, hw_side side, size_t index);
HEADWAY_API size_t hw_port_bytes(const hw_engine* engine, hw_side side, size_t index);

HEADWAY_API hw_status hw_context_create(const hw_engine* engine, hw_context** context);
HEADWAY_API void hw_context_free(hw_context* context);

/* inputs[k] and outputs[k] point to hw_port_bytes() bytes, dense and row-major; 64-byte alignment is fastest. Outputs
 * may not overlap inputs. One context runs one call at a time. */
HEADWAY_API hw_status hw_run(hw_context* context, const void* const* inputs, size_t input_count, void* const* outputs,
                             size_t output_count);

/* A dense row-major tensor of known shape. */
typedef struct hw_tensor {
    hw_type type;
    size_t rank;
    const int64_t* dims;
    const void* data;
} hw_tensor;

/* The same with shapes that the caller states, for engines of open shapes (and any other). Outputs are then read with
 * hw_output; they belong to the context and stay until its next run. */
HEADWAY_API hw_status hw_run_tensors(hw_context* context, const hw_tensor* inputs, size_t input_count);
HEADWAY_API hw_status hw_output(const hw_context* context, size_t index, hw_tensor* output);

#ifdef __cplusplus
}
#endif
#endif
