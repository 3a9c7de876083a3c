// Headway for C++: header-only owners and spans over the C interface (headway.h). C++20.
//
//     headway::Engine engine("model.hwe");
//     headway::Context context(engine);
//     std::vector<float> x(engine.input(0).elements()), y(engine.output(0).elements());
//     context.run({x.data()}, {y.data()});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "headway/headway.h"

namespace headway {
inline namespace v0 {

// A call that failed; status() tells whose fault it was, what() is one line.
class Error : public std::runtime_error {
public:
    explicit Error(hw_status status) : std::runtime_error(hw_last_error()), status_(status) {}
    hw_status status() const { return status_; }

private:
    hw_status status_;
};

namespace detail {
inline void check(hw_status status) {
    if (status != HW_OK) throw Error(status);
}
struct Free {
    void operator()(hw_engine* engine) const { hw_engine_free(engine); }
    void operator()(hw_context* context) const { hw_context_free(context); }
};
}  // namespace detail

inline std::string_view version() { return hw_version(); }

// One input or output. Valid as long as the engine.
struct PortView {
    std::string_view name;
    hw_type type = HW_UNDEFINED;
    std::span<const int64_t> dims;  // -1: open
    size_t bytes = 0;               // 0 while an extent is open

    // Of a port without open extents.
    size_t elements() const {
        size_t count = 1;
        for (int64_t dim : dims) count *= static_cast<size_t>(dim);
        return count;
    }
};

class Engine {
public:
    explicit Engine(const std::string& path) {
        hw_engine* engine = nullptr;
        detail::check(hw_engine_load(path.c_str(), &engine));
        engine_.reset(engine);
    }

    size_t inputs() const { return hw_port_count(get(), HW_INPUT); }
    size_t outputs() const { return hw_port_count(get(), HW_OUTPUT); }
    PortView input(size_t index) const { return port(HW_INPUT, index); }
    PortView output(size_t index) const { return port(HW_OUTPUT, index); }
    // See hw_engine_info; "" for an unknown name.
    std::string_view info(const std::string& name) const {
        const char* text = hw_engine_info(get(), name.c_str());
        return text != nullptr ? text : "";
    }
    const hw_engine* get() const { return engine_.get(); }

private:
    PortView port(hw_side side, size_t index) const {
        const char* name = hw_port_name(get(), side, index);
        if (name == nullptr) throw std::out_of_range("the engine has no port " + std::to_string(index));
        return {name,
                hw_port_type(get(), side, index),
                {hw_port_dims(get(), side, index), hw_port_rank(get(), side, index)},
                hw_port_bytes(get(), side, index)};
    }
    std::unique_ptr<hw_engine, detail::Free> engine_;
};

// What one caller needs to run an engine; it keeps the engine's contents alive.
class Context {
public:
    explicit Context(const Engine& engine) {
        hw_context* context = nullptr;
        detail::check(hw_context_create(engine.get(), &context));
        context_.reset(context);
    }

    void run(std::span<const void* const> inputs, std::span<void* const> outputs) {
        detail::check(hw_run(context_.get(), inputs.data(), inputs.size(), outputs.data(), outputs.size()));
    }
    void run(std::initializer_list<const void*> inputs, std::initializer_list<void*> outputs) {
        run(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()));
    }

    // With shapes that the caller states, for engines of open shapes; see output().
    void run(std::span<const hw_tensor> inputs) {
        detail::check(hw_run_tensors(context_.get(), inputs.data(), inputs.size()));
    }
    // Of the last run with tensors; valid until the next one.
    hw_tensor output(size_t index) const {
        hw_tensor tensor{};
        detail::check(hw_output(context_.get(), index, &tensor));
        return tensor;
    }

private:
    std::unique_ptr<hw_context, detail::Free> context_;
};

}  // namespace v0
}  // namespace headway
