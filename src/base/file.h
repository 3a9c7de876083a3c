// Files: whole reads, read-only maps, and writes that are never seen half done.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headway {

// UserError naming the path and the system's reason.
std::string read_file(const std::string& path);

// Written to a temporary file in the same folder, fsynced, renamed over `path`. UserError when that fails; the
// temporary file is removed then.
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::string& path, std::string_view text);

// Opens `location` inside `folder` for reading, for names that come from untrusted files: relative, no "..", no link in
// any component, a regular file with one name only. The caller closes the descriptor. UserError otherwise.
int open_confined(const std::string& folder, const std::string& location);

// A regular file mapped read-only. Empty files give an empty span.
class MappedFile {
public:
    explicit MappedFile(const std::string& path);
    // Takes the descriptor of a regular file over; `name` is for messages.
    MappedFile(int descriptor, const std::string& name);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    // These bytes are not needed for now: their pages leave the process and are read again when they are.
    void release(std::span<const std::byte> part) const;

private:
    void map(int descriptor, const std::string& name);
    const std::byte* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace headway
