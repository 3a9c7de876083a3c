// A builder turns (model, route, target) into an engine: ours, or another compiler behind the same nine calls. It lives
// in a worker process (workers/serve.h) that the tuner talks to by a line protocol, so a crash or a hang costs one
// trial. A builder returns raw outputs and runs engines; it never judges accuracy and never holds the clock.
//
// How to say no: Refused = this route asks for something that is not legal here; Unsupported = the model, route or
// target is understood but cannot be built; UserError = a bad file or name; anything else thrown is the builder's
// failure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/registry.h"

namespace headway {

// A route that this builder will not build: illegal combination, forced candidate that does not apply.
class Refused : public UserError {
public:
    using UserError::UserError;
};

// What is fixed about one input at build time: its shape, or (small integer inputs) its value.
struct ShapeBinding {
    std::string input;
    std::vector<int64_t> dims;
};
// Of an input that stays open: which extents the engine must take, by axis.
struct RangeBinding {
    std::string input;
    std::vector<int64_t> low, high;  // inclusive
};
struct ValueBinding {
    std::string input;
    std::vector<int64_t> values;
};

struct BuilderVersion {
    std::string name;     // "native"
    std::string version;  // of the builder and of the providers that it found
};

struct OpenRequest {
    std::string model;
    std::string target = "native";  // "native", "avx2", "avx512" or the full text of a target
    int threads = 0;                // ceiling; 0 = as many as this process may use
    std::vector<ShapeBinding> shapes;
    // With any of these the engine is one of open shapes: data bind nothing.
    std::vector<RangeBinding> ranges;
    std::vector<ValueBinding> values;
    // Other ONNX files of the same model that the user offers, for example quantised by a peer's own tool.
    std::vector<std::string> variants;
    // A sample folder (input_i.pb). Its inputs bind what is still unbound and are what `run` and `profile` are timed
    // on; empty: inputs are generated from the declared shapes.
    std::string timing_data;
};

// One input or output as callers see it.
struct PortDescription {
    std::string name;
    std::string type;           // as to_string(ElementType)
    std::vector<int64_t> dims;  // -1: open
    bool any_rank = false;      // then dims says nothing
};

struct OpenedModel {
    std::string model_hash;
    std::string target;  // full text form
    std::vector<PortDescription> inputs, outputs;
};

struct KnobDescription {
    std::string name, help, family;
    std::vector<std::string> values;  // the first is the default
    std::string numerics;             // as to_string(Numerics)
    std::string scope;                // "graph" or "site"
};

struct BuilderDescription {
    std::vector<KnobDescription> knobs;
    std::vector<std::string> sites;  // origin names that routes may address
};

struct BuiltEngine {
    std::string route;  // canonical
    std::string fingerprint, timing_key;
    int64_t bytes = 0;  // of the file
};

// One step of a running engine: its share of one iteration.
struct StepTime {
    std::string kernel;
    std::vector<std::string> origins;
    int64_t ns = 0;
};

// Code that sets up what an engine is, for a program that has never heard of Headway.
struct Snippet {
    std::string language;  // "python", "c++"
    std::string text;
};

class Builder {
public:
    virtual ~Builder() = default;

    virtual BuilderVersion version() = 0;
    // Once, before all that follows.
    virtual OpenedModel open(const OpenRequest& request) = 0;
    virtual BuilderDescription describe() = 0;
    // Writes the engine file, and the ledger as JSON text to `ledger` unless that is empty.
    virtual BuiltEngine build(const std::string& route, const std::string& engine, const std::string& ledger) = 0;
    // Makes an engine ready to be run by `streams` callers at once, numbered from 0, each with inputs and outputs of
    // its own. A second call with the same engine and no more streams does nothing.
    virtual void load(const std::string& engine, int streams) = 0;
    // Runs stream 0 of a loaded engine on the sample folder `data` (input_i.pb) and writes output_i.pb to the folder
    // `out`.
    virtual void check(const std::string& engine, const std::string& data, const std::string& out) = 0;
    // Runs a loaded engine back to back on the timing input: inputs ready in the caller's buffers to outputs readable
    // in plain layout. Returns when the last output is readable. Several threads may call it at once, each with a
    // stream of its own.
    virtual void run(const std::string& engine, int64_t iterations, int stream) = 0;
    // Time per step inside the running engine, averaged over the iterations.
    virtual std::vector<StepTime> profile(const std::string& engine, int64_t iterations) = 0;

    // Trusted outputs of the model on a sample folder, output_i.pb in `out`, by the plain operators in high precision.
    // Only a builder that has them offers this.
    virtual void reference(const std::string& data, const std::string& out);
    // How to use the engine without Headway. Only a builder of another runtime has it.
    virtual std::vector<Snippet> snippets(const std::string& engine);
    // Appends the gate's and the claim's results (JSON text) to an engine file, outside its content hash.
    virtual void certify(const std::string& engine, const std::string& json);
};

// The declaration of a builder, as a named constant beside its code:
//     const BuilderKind native{"native", "Headway's own compiler", [] { return std::unique_ptr<Builder>(new Native);
//     }};
class BuilderKind {
public:
    using Make = std::unique_ptr<Builder> (*)();
    BuilderKind(std::string_view name, std::string_view help, Make make) : name_(name), help_(help), make_(make) {
        announced<BuilderKind>().push_back(this);
    }
    std::string_view name() const { return name_; }
    std::string_view help() const { return help_; }
    // UserError when what the builder needs is not on this machine.
    std::unique_ptr<Builder> make() const { return make_(); }

private:
    std::string_view name_, help_;
    Make make_;
};

}  // namespace headway
