// A plan: what a native engine executes. Steps, buffers and constants by integer id; no pointers, so that it is its own
// file format (runtime/engine_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "kernels/kernel.h"
#include "tensor/tensor.h"

namespace headway {

enum class ValueKind : uint8_t { tensor, sequence, optional, string };

enum class Place : uint8_t { input, output, constant, arena };

// A buffer: a value while it is alive. Arena buffers share bytes when their lives do not overlap, or when one is a part
// of the other: of parts and whole, one side is written by steps and the other is a view of those bytes.
struct Buffer {
    std::string name;  // the value's name in the graph, for taps, profiles and errors
    TensorDesc desc;
    ValueKind kind = ValueKind::tensor;
    int memory_space = 0;  // 0 = host
    Place place = Place::arena;
    int64_t index = 0;  // input, output or constant number; byte offset for arena
};

struct Constant {
    TensorDesc desc;
    Tensor bytes;  // packed form; u8 for blobs without a tensor meaning
    Hash hash;
};

struct Step {
    std::string kernel;  // Kernel::name
    Problem problem;
    Choices choices;
    std::vector<int32_t> src;       // buffer ids at ONNX positions; -1 absent or packed
    std::vector<int32_t> operands;  // buffer ids
    std::vector<int32_t> dst;       // buffer ids; -1 unused output
    std::vector<int32_t> packed;    // constant ids
    std::vector<std::string> origins;
    int max_threads = 0;  // 0 = all of the engine's
    int device = 0, queue = 0;
};

// A graph input or output as callers see it: plain layout.
struct Port {
    std::string name;
    TensorDesc desc;
    int32_t buffer = -1;
    // Inputs whose value was fixed at build time (an `If` was specialised on it): other values are refused at run time.
    std::vector<std::byte> fixed_value;
};

// Run-time settings chosen by knobs.
struct Settings {
    int threads = 1;
    std::string pool = "own";  // "own" or "openmp"
    int64_t spin_us = 100;     // idle workers spin this long before they park
    double min_task_us = 2;    // a step is split only into tasks of at least this much predicted work
    std::string pin = "none";  // "none" or "compact"
    bool flush_to_zero = true;
    std::string weight_pages = "thp";  // "4k", "thp", "mapped"
    std::string arena_pages = "4k";    // "4k", "thp"
    int64_t tasks_per_thread = 3;
    std::string partition = "steal";  // "steal", "static" or "guided": how the own pool shares out a step
    std::string wait = "pause";       // "pause" or "yield": what a spinning thread of the own pool does between looks
    bool operator==(const Settings&) const = default;
};

struct Plan {
    std::vector<Buffer> buffers;
    std::vector<Constant> constants;
    std::vector<Step> steps;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    int64_t arena_bytes = 0;
    Settings settings;

    // Hash of what the engine does: steps, schedule, settings and constants; not of names or of the route.
    Hash fingerprint() const;
    // The same without the constants' values.
    Hash timing_key() const;
};

// Broken rules of a plan from a file: ids and offsets in range, sizes that match, each buffer written before it is
// read, arena buffers alive at the same time disjoint. UserError naming the first one.
void check_plan(const Plan& plan);

}  // namespace headway
