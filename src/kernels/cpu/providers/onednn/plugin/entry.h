// The border between Headway and its oneDNN plug-in: plain data and function pointers, no exception crosses it. The
// plug-in (libheadway_onednn.so) is the only object that links oneDNN; it is loaded with local symbols.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

enum { headway_onednn_entry_version = 1 };

enum OnednnLayout { onednn_plain = 0, onednn_nhwc = 1, onednn_nchw8c = 2, onednn_nchw16c = 3 };

// One convolution of f32 data on one thread. Weights are plain (oc, ic / group, kh, kw).
struct OnednnConv {
    int64_t batch, ic, ih, iw, oc, oh, ow, kh, kw;
    int64_t stride_h, stride_w, dilation_h, dilation_w;
    int64_t pad_top, pad_left, pad_bottom, pad_right;
    int64_t group;
    int32_t has_bias;
    int32_t src_layout, dst_layout;
    int32_t avx512;          // whether implementations for AVX-512 may be taken
    int32_t implementation;  // the n-th that oneDNN offers, direct ones first, reference code left out
};

// Product of f32 matrices (m, k) x (k, n) on one thread. Rows of weights and results may be parts of longer ones.
struct OnednnMatmul {
    int64_t m, k, n;
    int64_t weights_row, dst_row;  // elements from one row to the next
    int32_t has_bias;              // of n elements
    int32_t avx512;
    int32_t implementation;
};

struct OnednnPrimitive;
struct OnednnWeights;

struct OnednnEntry {
    int32_t entry_version;
    const char* onednn_version;  // "2.6.3"
    // Name of the implementation, valid for ever, or NULL when there is none. Makes no code.
    const char* (*find_conv)(const OnednnConv*);
    const char* (*find_matmul)(const OnednnMatmul*);
    // NULL when that fails.
    OnednnPrimitive* (*make_conv)(const OnednnConv*);
    OnednnPrimitive* (*make_matmul)(const OnednnMatmul*);
    size_t (*scratch_bytes)(const OnednnPrimitive*);
    // Plain weights in the form that the primitive reads. NULL when that fails.
    OnednnWeights* (*load_weights)(const OnednnPrimitive*, const float* plain);
    int32_t (*reads_same_weights)(const OnednnPrimitive*, const OnednnPrimitive*);
    // 0 when it fails. Any number of threads may run one primitive, each with its own scratch.
    int32_t (*run)(const OnednnPrimitive*, const float* src, const OnednnWeights*, const float* bias, float* dst,
                   void* scratch);
    void (*free_primitive)(OnednnPrimitive*);
    void (*free_weights)(OnednnWeights*);
};

typedef const OnednnEntry* (*OnednnEntryFunction)(void);  // "headway_onednn_entry"
}
