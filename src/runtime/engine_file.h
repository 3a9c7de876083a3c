// The .hwe file: little-endian, 64-byte aligned sections, each with length and checksum (XXH3-128): header, plan,
// constants, ledger, in staged engines the staged part, and an optional certificate outside the content hash. No
// pointers, no code, nothing executed from the file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/file.h"
#include "runtime/engine.h"
#include "runtime/staged_part.h"

namespace headway {

// Version 1 holds a plan; version 2 holds a staged part as well.
inline constexpr int engine_file_version = 1;
inline constexpr int staged_file_version = 2;

// Temporary file, fsync, rename. The same plan and info give the same bytes.
void write_engine_file(const std::string& path, const Plan& plan, const EngineInfo& info,
                       const std::optional<StagedPart>& staged = std::nullopt);
// Of a staged engine: hash of graph, constants, settings and parts.
Hash staged_fingerprint(const Plan& plan, const StagedPart& staged);

struct EngineFile {
    Plan plan;
    EngineInfo info;
    std::optional<StagedPart> staged;
    std::shared_ptr<const MappedFile> map;  // what the constants lie in, when they came from a file
    Hash fingerprint() const;
};
// Checks magic, version, every length, checksum, offset, count and index before use. UserError naming the section.
EngineFile read_engine_file(const std::string& path);
// The same for bytes in memory that `owner` keeps alive; `name` stands for the path in errors.
EngineFile read_engine_bytes(const std::string& name, std::span<const std::byte> bytes,
                             std::shared_ptr<const void> owner);

// Whether the file begins as an engine file does; false when it cannot be read.
bool begins_as_engine_file(const std::string& path);
// Whether it is an engine file with a staged part.
bool begins_as_staged_file(const std::string& path);

// Rewrites the certificate section only; the tested bytes stay as they are.
void set_certificate(const std::string& path, const std::string& json);

}  // namespace headway
