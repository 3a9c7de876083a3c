#include "data/gate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

constexpr std::array<std::pair<Metric, std::string_view>, 5> metric_names{{
    {Metric::max_abs, "max_abs"},
    {Metric::max_rel, "max_rel"},
    {Metric::rel_l2, "rel_l2"},
    {Metric::cosine, "cosine"},
    {Metric::mismatches, "mismatches"},
}};

std::vector<Criterion> default_criteria(ElementType type) {
    switch (type) {
        case ElementType::f64:
        case ElementType::f32:
            return {{Metric::rel_l2, 1e-3}, {Metric::max_rel, 0.05}};
        case ElementType::f16:
            return {{Metric::rel_l2, 4e-3}, {Metric::max_rel, 0.2}};
        case ElementType::bf16:
            return {{Metric::rel_l2, 3e-2}, {Metric::max_rel, 1}};
        default:
            return {{Metric::max_abs, 0}, {Metric::mismatches, 0}};
    }
}

// How much of the tolerance is used up: 1 is the limit.
double used(const Criterion& criterion, const Difference& difference) {
    const double measured = criterion.measured(difference);
    if (criterion.metric == Metric::cosine)
        return criterion.tolerance < 1 ? (1 - measured) / (1 - criterion.tolerance) : (measured < 1 ? 2 : 0);
    if (criterion.tolerance > 0) return measured / criterion.tolerance;
    return measured > 0 ? 2 : 0;
}

double parse_tolerance(std::string_view text, const char* option) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size() || !(value >= -1) || !std::isfinite(value))
        throw UserError(std::string(option) + ": " + escaped(text) + " is not a tolerance");
    return value;
}

// "name=value" or "value" -> (name, value); names may hold '='.
std::pair<std::string, std::string> name_and_value(const std::string& text) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) return {"", text};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

double natural_tolerance(Metric metric) {
    switch (metric) {
        case Metric::max_abs:
            return 1e-3;
        case Metric::max_rel:
            return 0.05;
        case Metric::rel_l2:
            return 1e-3;
        case Metric::cosine:
            return 0.9999;
        case Metric::mismatches:
            return 0;
    }
    return 0;
}

OutputResult judge_output(const Gate& gate, const std::string& name, const Tensor& got, const Tensor& want,
                          const std::string& sample) {
    OutputResult result;
    result.name = name;
    const auto fail = [&](std::string why) {
        result.pass = false;
        if (result.why.empty()) result.why = std::move(why) + " (" + sample + ")";
    };
    if (got.type() != want.type() || got.shape() != want.shape()) {
        fail(fmt::format("{} of shape {} instead of {} of shape {}", to_string(got.type()), got.shape().text(),
                         to_string(want.type()), want.shape().text()));
        result.difference.elements = want.elements();
        result.difference.mismatches = want.elements();
        result.margin = 2;
        return result;
    }
    const bool exact = !is_float(want.type()) && !gate.stated && !gate.by_output.contains(name);
    result.difference = compare_tensors(got, want, exact ? 0 : gate.rtol, exact ? 0 : gate.atol);
    if (result.difference.special > 0)
        fail(fmt::format("{} misplaced NaN or infinite elements, the first at {}", result.difference.special,
                         result.difference.worst));
    for (const Criterion& criterion : gate.criteria(name, want.type())) {
        result.margin = std::max(result.margin, used(criterion, result.difference));
        if (!criterion.accepts(result.difference))
            fail(fmt::format("{} {:.3g}, but {} is asked", to_string(criterion.metric),
                             criterion.measured(result.difference), criterion.text()));
    }
    if (!result.pass) result.margin = std::max(result.margin, 1.0);
    return result;
}

}  // namespace

std::string_view to_string(Metric metric) {
    for (const auto& [value, name] : metric_names)
        if (value == metric) return name;
    return "rel_l2";
}

Metric metric_from_string(std::string_view word) {
    for (const auto& [value, name] : metric_names)
        if (name == word) return value;
    throw UserError("unknown metric " + escaped(word) + "; known: max_abs, max_rel, rel_l2, cosine, mismatches");
}

double Criterion::measured(const Difference& difference) const {
    switch (metric) {
        case Metric::max_abs:
            return difference.max_abs;
        case Metric::max_rel:
            return difference.max_rel;
        case Metric::rel_l2:
            return difference.rel_l2;
        case Metric::cosine:
            return difference.cosine;
        case Metric::mismatches:
            return static_cast<double>(difference.mismatches);
    }
    return 0;
}

bool Criterion::accepts(const Difference& difference) const {
    const double value = measured(difference);
    return metric == Metric::cosine ? value >= tolerance : value <= tolerance;
}

std::string Criterion::text() const {
    return fmt::format("{} {} {:g}", to_string(metric), metric == Metric::cosine ? ">=" : "<=", tolerance);
}

std::vector<Criterion> Gate::criteria(const std::string& output, ElementType type) const {
    if (const auto found = by_output.find(output); found != by_output.end()) return {found->second};
    if (stated) return {*stated};
    return default_criteria(type);
}

Gate make_gate(const GateOptions& options) {
    Gate gate;
    if (options.rtol || options.atol) {
        gate.rtol = options.rtol.value_or(0);
        gate.atol = options.atol.value_or(0);
        if (!(gate.rtol >= 0) || !(gate.atol >= 0)) throw UserError("--rtol and --atol cannot be negative");
        gate.stated = Criterion{Metric::mismatches, 0};
    }
    std::map<std::string, Criterion> named;
    for (const std::string& text : options.metric) {
        const auto [name, word] = name_and_value(text);
        const Metric metric = metric_from_string(word);
        named[name] = {metric, natural_tolerance(metric)};
    }
    for (const std::string& text : options.tolerance) {
        const auto [name, number] = name_and_value(text);
        const auto found = named.find(name);
        Criterion& criterion = found != named.end() ? found->second : named.emplace(name, Criterion{}).first->second;
        criterion.tolerance = parse_tolerance(number, "--tolerance");
    }
    for (auto& [name, criterion] : named) {
        if (name.empty())
            gate.stated = criterion;
        else
            gate.by_output[name] = criterion;
    }
    return gate;
}

void GateResult::merge(const GateResult& other) {
    pass = pass && other.pass;
    if (outputs.empty()) {
        outputs = other.outputs;
        return;
    }
    HEADWAY_CHECK(outputs.size() == other.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
        OutputResult& mine = outputs[i];
        const OutputResult& theirs = other.outputs[i];
        mine.difference.merge(theirs.difference);
        mine.pass = mine.pass && theirs.pass;
        mine.margin = std::max(mine.margin, theirs.margin);
        if (mine.why.empty()) mine.why = theirs.why;
    }
}

GateResult judge(const Gate& gate, std::span<const std::string> names, std::span<const Tensor> got,
                 std::span<const Tensor> want, const std::string& sample) {
    HEADWAY_CHECK(names.size() == want.size() && got.size() == want.size());
    for (const auto& [name, criterion] : gate.by_output)
        if (std::ranges::find(names, name) == names.end()) {
            std::string message = "the gate names output \"" + escaped(name) + "\", which the model does not have";
            const std::string nearest = nearest_name(name, names);
            throw UserError(nearest.empty() ? message : message + "; did you mean \"" + escaped(nearest) + "\"?");
        }
    GateResult result;
    for (size_t i = 0; i < names.size(); ++i) {
        result.outputs.push_back(judge_output(gate, names[i], got[i], want[i], sample));
        result.pass = result.pass && result.outputs.back().pass;
    }
    return result;
}

void to_json(nlohmann::json& json, const GateResult& result) {
    json = {{"pass", result.pass}, {"outputs", nlohmann::json::array()}};
    for (const OutputResult& output : result.outputs) {
        const Difference& difference = output.difference;
        nlohmann::json entry = {
            {"name", escaped(output.name)},    {"max_abs", difference.max_abs}, {"max_rel", difference.max_rel},
            {"rel_l2", difference.rel_l2},     {"cosine", difference.cosine},   {"mismatches", difference.mismatches},
            {"elements", difference.elements}, {"margin", output.margin},       {"pass", output.pass}};
        if (!output.why.empty()) entry["why"] = output.why;
        json["outputs"].push_back(std::move(entry));
    }
}

}  // namespace headway
