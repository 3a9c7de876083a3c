#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <cstring>

namespace headway {

std::string Hash::hex() const {
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
                  static_cast<unsigned long long>(low));
    return text;
}

Hash hash_bytes(const void* data, size_t size) {
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    return {hash.high64, hash.low64};
}

Hash hash_text(std::string_view text) { return hash_bytes(text.data(), text.size()); }

Hasher& Hasher::add(int64_t value) {
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    buffer_.append(bytes, 8);
    return *this;
}

Hasher& Hasher::add(std::string_view text) {
    add(static_cast<int64_t>(text.size()));
    buffer_.append(text);
    return *this;
}

Hasher& Hasher::add(const Hash& hash) {
    add(static_cast<int64_t>(hash.high));
    return add(static_cast<int64_t>(hash.low));
}

// Large blobs enter by their own hash, so that feeding constants does not copy them.
Hasher& Hasher::add_bytes(const void* data, size_t size) {
    add(static_cast<int64_t>(size));
    return add(hash_bytes(data, size));
}

Hash Hasher::finish() const { return hash_bytes(buffer_.data(), buffer_.size()); }

}  // namespace headway
