// A knob: one named heuristic with a finite list of values, declared once beside the code that obeys it. From the
// declaration alone come the help, the reference docs, the route grammar, the search space and two tests (the sweep:
// every value on the witness stays inside the gate; the dead-knob test: some value changes the witness's fingerprint).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/registry.h"

namespace headway {

// What a knob may do to the numbers: nothing, sum in another order, use an approximation, or use a narrower format.
enum class Numerics { exact, reorders, approximates, reduced };
// Whether a knob is one setting for the graph, or can be set for each site (`knob@glob=value`).
enum class Scope { graph, site };

std::string_view to_string(Numerics numerics);
std::string_view to_string(Scope scope);

// The part of a knob that needs no value type: all values as words, the default first.
class KnobBase {
public:
    std::string_view name() const { return name_; }
    std::string_view help() const { return help_; }
    // "rewrite", "fusion", "kernel", "layout", "format", "thread" or "memory": for help and for reports per family.
    std::string_view family() const { return family_; }
    const std::vector<std::string>& values() const { return values_; }
    const std::string& default_value() const { return values_.front(); }
    Numerics numerics() const { return numerics_; }
    Scope scope() const { return scope_; }
    // A file of tests/graphs (without .txt) that some value changes, under witness_route for knobs that are dead at
    // the defaults.
    std::string_view witness() const { return witness_; }
    std::string_view witness_route() const { return witness_route_; }
    // The instruction set without which the knob cannot matter ("" = any); the dead-knob test builds for that target.
    std::string_view witness_target() const { return witness_target_; }
    // Position of a value word, or -1.
    int index_of(std::string_view value) const;

protected:
    KnobBase() = default;
    ~KnobBase() = default;
    void announce() const { announced<KnobBase>().push_back(this); }

    std::string name_, help_, family_, witness_, witness_route_, witness_target_;
    std::vector<std::string> values_;
    Numerics numerics_ = Numerics::exact;
    Scope scope_ = Scope::graph;
};

class Route;

// T is int64_t (numbers) or std::string_view (words). Knobs are `extern const`/`const` objects with static storage.
template <class T>
class Knob final : public KnobBase {
    static_assert(std::is_same_v<T, int64_t> || std::is_same_v<T, std::string_view>);

public:
    struct Fields {
        std::string name;
        std::string help;
        std::string family;
        std::vector<T> values;  // the first is the default
        Numerics numerics = Numerics::exact;
        Scope scope = Scope::graph;
        std::string witness;
        std::string witness_route = "";
        std::string witness_target = "";
    };

    explicit Knob(Fields fields) {
        name_ = std::move(fields.name);
        help_ = std::move(fields.help);
        family_ = std::move(fields.family);
        numerics_ = fields.numerics;
        scope_ = fields.scope;
        witness_ = std::move(fields.witness);
        witness_route_ = std::move(fields.witness_route);
        witness_target_ = std::move(fields.witness_target);
        for (const T& value : fields.values) {
            if constexpr (std::is_same_v<T, int64_t>) {
                values_.push_back(std::to_string(value));
                numbers_.push_back(value);
            } else {
                values_.emplace_back(value);
            }
        }
        announce();
    }

    // The value by its position in values(); words stay valid as long as the knob.
    T at(int index) const {
        if constexpr (std::is_same_v<T, int64_t>)
            return numbers_[static_cast<size_t>(index)];
        else
            return values_[static_cast<size_t>(index)];
    }

private:
    std::vector<int64_t> numbers_;
};

}  // namespace headway
