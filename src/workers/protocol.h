// The worker protocol: one JSON object per line, request and reply in turn. A message longer than one line may be goes
// to a file in the scratch folder and the line names it. Both ends share these helpers; nothing else reads or writes
// lines.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "workers/builder.h"

namespace headway {

inline constexpr int protocol_version = 3;
inline constexpr size_t longest_line = 1024;
// A message in a file may be this long: a description of a large model's sites is far smaller.
inline constexpr size_t longest_message = size_t{256} << 20;

// The line for a message: its text, or {"file": ...} when that is too long. `name` is unique within `scratch`.
std::string to_line(const nlohmann::json& message, const std::string& scratch, const std::string& name);
// Inverse; reads and removes the file. UserError for text that is no JSON object, and for a file outside `scratch`.
nlohmann::json from_line(std::string_view line, const std::string& scratch);

// How a request can fail, as the reply says it and as trials are classified. `interrupted` is the user's Ctrl-C, not
// the worker's doing.
enum class Failure { refused, unsupported, failed, crashed, timeout, out_of_memory, interrupted };
std::string_view to_string(Failure failure);
// Inverse; `failed` for unknown words.
Failure failure_from_string(std::string_view word);

// What a block took, in nanoseconds: all iterations of all streams together, in one entry, or each.
struct BlockTimes {
    std::vector<int64_t> ns;
    // Of a process with one thread: for so long it was not on a CPU. -1 with more threads, which wait for each other.
    int64_t lost_ns = -1;
};

// One timed block of a loaded engine.
struct BlockRequest {
    int64_t iterations = 1;      // timed, of each stream
    int64_t preroll = 0;         // untimed, before them
    int streams = 1;             // callers at once; the engine is loaded for as many
    bool per_iteration = false;  // a time for each iteration of each stream instead of one for all
    bool cold = false;           // caches are swept before each iteration, outside its time; one stream only
};

void to_json(nlohmann::json& json, const OpenRequest& value);
void from_json(const nlohmann::json& json, OpenRequest& value);
void to_json(nlohmann::json& json, const OpenedModel& value);
void from_json(const nlohmann::json& json, OpenedModel& value);
void to_json(nlohmann::json& json, const BuilderVersion& value);
void from_json(const nlohmann::json& json, BuilderVersion& value);
void to_json(nlohmann::json& json, const KnobDescription& value);
void from_json(const nlohmann::json& json, KnobDescription& value);
void to_json(nlohmann::json& json, const BuilderDescription& value);
void from_json(const nlohmann::json& json, BuilderDescription& value);
void to_json(nlohmann::json& json, const BuiltEngine& value);
void from_json(const nlohmann::json& json, BuiltEngine& value);
void to_json(nlohmann::json& json, const StepTime& value);
void from_json(const nlohmann::json& json, StepTime& value);
void to_json(nlohmann::json& json, const Snippet& value);
void from_json(const nlohmann::json& json, Snippet& value);
void to_json(nlohmann::json& json, const BlockTimes& value);
void from_json(const nlohmann::json& json, BlockTimes& value);
void to_json(nlohmann::json& json, const BlockRequest& value);
void from_json(const nlohmann::json& json, BlockRequest& value);

}  // namespace headway
