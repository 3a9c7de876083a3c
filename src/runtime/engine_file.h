// The .hwe file: little-endian, 64-byte aligned sections, each with length and checksum (XXH3-128): header, plan,
// constants, ledger, and an optional certificate outside the content hash. No pointers, no code, nothing executed from
// the file.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/engine.h"

namespace headway {

inline constexpr int engine_file_version = 1;

// Temporary file, fsync, rename. The same plan and info give the same bytes.
void write_engine_file(const std::string& path, const Plan& plan, const EngineInfo& info);

struct EngineFile {
    Plan plan;
    EngineInfo info;
};
// Checks magic, version, every length, checksum, offset, count and index before use. UserError naming the section.
EngineFile read_engine_file(const std::string& path);
// The same for bytes in memory that `owner` keeps alive; `name` stands for the path in errors.
EngineFile read_engine_bytes(const std::string& name, std::span<const std::byte> bytes,
                             std::shared_ptr<const void> owner);

// Whether the file begins as an engine file does; false when it cannot be read.
bool begins_as_engine_file(const std::string& path);

// Rewrites the certificate section only; the tested bytes stay as they are.
void set_certificate(const std::string& path, const std::string& json);

}  // namespace headway
