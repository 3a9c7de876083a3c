// 128-bit content hashes (XXH3): fingerprints, cache keys, section checksums. Not a defence against forgery.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headway {

struct Hash {
    uint64_t high = 0;
    uint64_t low = 0;
    auto operator<=>(const Hash&) const = default;
    std::string hex() const;  // 32 lower-case digits
};

Hash hash_bytes(const void* data, size_t size);
Hash hash_text(std::string_view text);

// Feeds values in order; every variable-length item is preceded by its length, so that "ab","c" differs from "a","bc".
class Hasher {
public:
    Hasher& add(std::string_view text);
    Hasher& add(int64_t value);
    Hasher& add(const Hash& hash);
    Hasher& add_bytes(const void* data, size_t size);
    Hash finish() const;

private:
    std::string buffer_;
};

}  // namespace headway
