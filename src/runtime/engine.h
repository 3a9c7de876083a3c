// An engine: the runnable artefact of one build. Immutable and shared; each caller has a Context of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan.h"

namespace headway {

// What the file says about the engine besides its plan.
struct EngineInfo {
    std::string builder = "native";
    std::string builder_version;
    Hash model;  // of the model's bytes
    std::string model_name;
    std::string route;        // canonical
    std::string target;       // Target::text()
    std::string ledger;       // JSON text of the ledger
    std::string certificate;  // JSON text appended after gate and claim; empty until then
};

class Pool;

class Engine {
public:
    // Prepares every step for this machine: UserError (with the field that differs) when the plan is for another one.
    // Engines that never run at once may share `pool`, which must have the plan's threads; without it an engine that
    // needs one makes its own.
    static std::shared_ptr<const Engine> make(Plan plan, EngineInfo info, const Registry<Kernel>& kernels,
                                              std::shared_ptr<Pool> pool = nullptr);
    static std::shared_ptr<const Engine> load(const std::string& path, const Registry<Kernel>& kernels);

    const Plan& plan() const;
    const EngineInfo& info() const;
    struct Impl;
    const Impl& impl() const { return *impl_; }
    explicit Engine(std::unique_ptr<Impl> impl);
    ~Engine();

private:
    std::unique_ptr<Impl> impl_;
};

// Arena, scratch and bindings of one caller. Not thread-safe; contexts of one engine may run concurrently: they share
// its thread pool, one run at a time owns it and the others run on their calling thread.
class Context {
public:
    explicit Context(std::shared_ptr<const Engine> engine);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // inputs[k], outputs[k]: plain-layout memory of exactly the port's bytes, 64-byte aligned for best speed.
    // UserError when a fixed input has another value.
    void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs);
    // Convenience over tensors; checks types and shapes (UserError naming the port).
    std::vector<Tensor> run(std::span<const Tensor> inputs);
    // As run, with nanoseconds per step added to step_ns (one entry per step).
    void profile(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                 std::span<int64_t> step_ns);
    int64_t arena_bytes() const;
    const Engine& engine() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace headway
