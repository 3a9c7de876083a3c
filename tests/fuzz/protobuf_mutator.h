// Changes protobuf messages so that they stay messages: bytes changed at random in one are nearly always refused at
// the first wrong length, which tries the reader of lengths and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway::fuzz {

class ProtobufMutator {
public:
    // `words` are put in the place of other short texts: names of operators, attributes, keys.
    explicit ProtobufMutator(std::vector<std::string> words) : words_(std::move(words)) {}

    // One or a few changes; at most `most_bytes` long, the message as it was when that cannot be kept.
    std::string mutated(std::string_view message, size_t most_bytes, uint64_t seed) const;
    // Some fields of `a` replaced by fields of `b`.
    std::string crossed(std::string_view a, std::string_view b, size_t most_bytes, uint64_t seed) const;

private:
    std::vector<std::string> words_;
};

}  // namespace headway::fuzz
