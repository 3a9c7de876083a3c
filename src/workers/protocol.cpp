#include "workers/protocol.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/json.h"

namespace headway {

// Member by member in both directions; the words of the protocol are the names of the fields.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShapeBinding, input, dims)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RangeBinding, input, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueBinding, input, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PortDescription, name, type, dims, any_rank)

namespace {

constexpr std::array<std::pair<Failure, std::string_view>, 7> failure_names{{
    {Failure::refused, "refused"},
    {Failure::unsupported, "unsupported"},
    {Failure::failed, "failed"},
    {Failure::crashed, "crashed"},
    {Failure::timeout, "timeout"},
    {Failure::out_of_memory, "out-of-memory"},
    {Failure::interrupted, "interrupted"},
}};

// The JSON library casts what stands where an integer belongs, and a cast of a number past 64 bits is undefined.
bool has_number_past_integers(const nlohmann::json& value) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (value.is_number_float()) return !(std::abs(value.get<double>()) < limit);
    return value.is_structured() && std::ranges::any_of(value, has_number_past_integers);
}

nlohmann::json parse_object(std::string_view text) {
    nlohmann::json message = read_json(text);
    if (!message.is_object()) throw UserError("not a JSON object");
    if (has_number_past_integers(message)) throw UserError("a number is past 64 bits");
    return message;
}

}  // namespace

std::string_view to_string(Failure failure) {
    for (const auto& [value, name] : failure_names)
        if (value == failure) return name;
    return "failed";
}

Failure failure_from_string(std::string_view word) {
    for (const auto& [value, name] : failure_names)
        if (name == word) return value;
    return Failure::failed;
}

std::string to_line(const nlohmann::json& message, const std::string& scratch, const std::string& name) {
    std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() < longest_line) return text;
    write_file_atomically(scratch + "/" + name, text);
    return nlohmann::json{{"file", name}}.dump();
}

nlohmann::json from_line(std::string_view line, const std::string& scratch) {
    nlohmann::json message = parse_object(line);
    const auto file = message.find("file");
    if (file == message.end()) return message;
    const std::string name = file->is_string() ? file->get<std::string>() : "";
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
        throw UserError("a message names a file outside the scratch folder");
    const std::string path = scratch + "/" + name;
    if (MappedFile(path).bytes().size() > longest_message) throw UserError("a message of more than 256 MiB");
    message = parse_object(read_file(path));
    ::unlink(path.c_str());
    return message;
}

namespace {

// Integers that stand alone are checked; those in lists are of 64 bits, which parse_object has looked at.
template <class T>
void read_member(const nlohmann::json& json, T& member) {
    if constexpr (std::signed_integral<T>)
        member = whole<T>(json);
    else
        json.get_to(member);
}

}  // namespace

// As the library's own macro, but with definitions for the declarations in the header.
#define HEADWAY_MEMBER_FROM(member) read_member(nlohmann_json_j.at(#member), nlohmann_json_t.member);
#define HEADWAY_MESSAGE(Type, ...)                                                  \
    void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {    \
        NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))    \
    }                                                                               \
    void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) {  \
        NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(HEADWAY_MEMBER_FROM, __VA_ARGS__)) \
    }

HEADWAY_MESSAGE(OpenRequest, model, target, threads, shapes, ranges, values, variants, timing_data)
HEADWAY_MESSAGE(OpenedModel, model_hash, target, inputs, outputs)
HEADWAY_MESSAGE(BuilderVersion, name, version)
HEADWAY_MESSAGE(KnobDescription, name, help, family, values, numerics, scope)
HEADWAY_MESSAGE(BuilderDescription, knobs, sites)
HEADWAY_MESSAGE(BuiltEngine, route, fingerprint, timing_key, bytes)
HEADWAY_MESSAGE(StepTime, kernel, origins, ns)
HEADWAY_MESSAGE(Snippet, language, text)
HEADWAY_MESSAGE(BlockTimes, ns, lost_ns)
HEADWAY_MESSAGE(BlockRequest, iterations, preroll, streams, per_iteration, cold)

}  // namespace headway
