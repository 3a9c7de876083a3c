// A kernel: one way to run one kind of problem. It says whether it supports a problem, packs constants at build time,
// and is prepared at load time into something that runs tile ranges, so that the engine's scheduler owns the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "base/verdict.h"
#include "kernels/program.h"
#include "kernels/target.h"
#include "knobs/knob.h"
#include "tensor/attributes.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

namespace headway {

// A problem: an anchor operator with concrete operands, and the step program that follows it.
//   op        "Conv", "MatMul", "Pointwise" (no anchor), "Reorder" (layout change), any ONNX name, with `version`
//   src       the anchor's inputs in ONNX order; absent optional inputs are nullopt
//   constant  which of src are known at build time (these come packed, never through Args::src)
//   operands  external operands of the epilogue / pointwise program, with their layouts
//   dst       the outputs. With an epilogue, dst[0] is its result and has the anchor's output shape
struct Problem {
    std::string op;
    int version = 0;
    Attributes attributes;
    std::vector<std::optional<TensorDesc>> src;
    std::vector<bool> constant;
    Program epilogue;
    std::vector<TensorDesc> operands;
    std::vector<TensorDesc> dst;

    std::string text() const;  // one line for ledgers and errors
};

// Axes, pads, starts, scales... are inputs in ONNX, but decide what a kernel does. lower calls give_constants for every
// problem: small constants of src are then known by value (kept as attributes "src0", "src1", ...).
void give_constants(Problem& problem, std::span<const Tensor* const> constants);
std::optional<std::vector<int64_t>> constant_integers(const Problem& problem, size_t src);  // of an integer src
std::optional<std::vector<float>> constant_reals(const Problem& problem, size_t src);       // of an f32 src

// The values of a kernel's own knobs for one step, as the route set them; stored in the engine.
class Choices {
public:
    void set(const KnobBase& knob, std::string value) { values_[std::string(knob.name())] = std::move(value); }
    void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
    template <class T>
    T get(const Knob<T>& knob) const {
        return knob.at(index(knob));
    }
    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }
    bool operator==(const Choices&) const = default;

private:
    int index(const KnobBase& knob) const;  // default when not set; UserError for a value the knob does not have
    std::map<std::string, std::string, std::less<>> values_;
};

// Pointers of one run. src holds non-constant inputs at their ONNX positions (nullptr where constant or absent);
// packed holds the blobs that pack() returned, in order. workspace is shared by all threads of the step, scratch is the
// calling thread's own; both are 64-byte aligned and hold what Prepared asked for.
struct Args {
    const std::byte* const* src = nullptr;
    const std::byte* const* operands = nullptr;
    std::byte* const* dst = nullptr;
    const std::byte* const* packed = nullptr;
    std::byte* workspace = nullptr;
    std::byte* scratch = nullptr;
};

// A kernel made ready for one step. Immutable while running: contexts on several threads share it.
class Prepared {
public:
    virtual ~Prepared() = default;
    // Called once, before the first run, with the packed blobs: for kernels that must rearrange them on this machine.
    virtual void load(const std::byte* const* /*packed*/) {}
    // Phases run one after another with a barrier between; each has its own number of tiles that may run in any order
    // on any thread.
    virtual int phases() const { return 1; }
    virtual int64_t tiles(int phase) const = 0;
    virtual int64_t workspace_bytes() const { return 0; }
    virtual int64_t scratch_bytes() const { return 0; }
    virtual void run(const Args& args, int phase, int64_t begin, int64_t end) const = 0;
};

// Work of a problem for the roofline: floating-point operations (multiply-add = 2) really executed and bytes touched
// once.
struct Work {
    double flops = 0;
    double bytes = 0;
    double efficiency =
        0.5;  // share of the core's f32 peak this kernel reaches when compute bound, as measured by its bench
};

// What products are computed in. bf16: both operands rounded to bfloat16 (nearest even), sums in f32.
enum class ComputeFormat : uint8_t { fp32, bf16 };
std::string_view to_string(ComputeFormat format);

class Kernel {
public:
    struct Fields {
        std::string name;       // "family.variant.isa", e.g. "conv.winograd4.avx2"
        std::string algorithm;  // the word that knobs use for it, e.g. "winograd4"
        std::string help;
        std::vector<std::string> ops;                 // anchors it may serve
        Isa isa = Isa::baseline;                      // needs at least this
        ComputeFormat compute = ComputeFormat::fp32;  // bf16 needs Target::avx512_bf16 as well
        Numerics numerics =
            Numerics::reorders;  // against the reference; kernels of equal ISA and algorithm agree bit for bit
        std::vector<const KnobBase*> knobs = {};  // read through Choices; part of the step
        std::function<Verdict(const Problem&, const Target&, const Choices&)> supports;
        std::function<Work(const Problem&, const Target&, const Choices&)> work;
        // constants: src tensors at their ONNX positions, nullptr where not constant. Returns the blobs to store.
        std::function<std::vector<Tensor>(const Problem&, const Target&, const Choices&,
                                          std::span<const Tensor* const> constants)>
            pack = {};
        std::function<std::unique_ptr<Prepared>(const Problem&, const Target&, const Choices&)> prepare;
        bool in_place = false;  // dst[0] may be the buffer of src[0] or of a same-shaped operand
    };
    explicit Kernel(Fields fields) : fields_(std::move(fields)) { announced<Kernel>().push_back(this); }

    std::string_view name() const { return fields_.name; }
    const Fields& fields() const { return fields_; }
    // Target and operator checks common to all, then the kernel's own.
    Verdict supports(const Problem& problem, const Target& target, const Choices& choices) const;

private:
    Fields fields_;
};

}  // namespace headway
