// One protobuf message, read field by field from untrusted bytes. Every read checks the wire type and the bounds; a
// violation is a UserError "damaged protobuf: ...", to which callers add the file and the node or tensor.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

namespace headway {

class Wire {
public:
    explicit Wire(std::string_view bytes) : reader_(bytes.data(), bytes.size()) {}

    bool next();  // to the next field; false at the end
    uint32_t tag() const { return reader_.tag(); }

    // The value of the current field.
    int64_t integer();
    float real();
    std::string_view bytes();  // a string, bytes or message; a view into the message
    void skip();
    // Repeated numbers, packed or one by one (writers use both).
    void append(std::vector<int64_t>& values);
    void append(std::vector<float>& values);
    void append(std::vector<double>& values);

private:
    void require(protozero::pbf_wire_type type) const;
    protozero::pbf_reader reader_;
};

// StringStringEntryProto: key 1, value 2; views into the message.
struct StringEntry {
    std::string_view key, value;
};
StringEntry read_string_entry(std::string_view message);

}  // namespace headway
