#include "tensor/wire.h"

#include <string>

#include "base/error.h"

namespace headway {
namespace {

using protozero::pbf_wire_type;

template <class F>
auto guarded(F&& read) {
    try {
        return read();
    } catch (const protozero::end_of_buffer_exception&) {
        throw UserError("damaged protobuf: it ends inside a field");
    } catch (const protozero::exception&) {
        throw UserError("damaged protobuf: a field that cannot be read");
    }
}

}  // namespace

void Wire::require(pbf_wire_type type) const {
    if (reader_.wire_type() != type)
        throw UserError("damaged protobuf: field " + std::to_string(reader_.tag()) + " has the wrong wire type");
}

bool Wire::next() {
    return guarded([&] { return reader_.next(); });
}

int64_t Wire::integer() {
    require(pbf_wire_type::varint);
    return guarded([&] { return reader_.get_int64(); });
}

float Wire::real() {
    require(pbf_wire_type::fixed32);
    return guarded([&] { return reader_.get_float(); });
}

std::string_view Wire::bytes() {
    require(pbf_wire_type::length_delimited);
    const protozero::data_view view = guarded([&] { return reader_.get_view(); });
    return {view.data(), view.size()};
}

void Wire::skip() {
    guarded([&] { reader_.skip(); });
}

void Wire::append(std::vector<int64_t>& values) {
    if (reader_.wire_type() != pbf_wire_type::length_delimited) {
        values.push_back(integer());
        return;
    }
    guarded([&] {
        for (const int64_t value : reader_.get_packed_int64()) values.push_back(value);
    });
}

void Wire::append(std::vector<float>& values) {
    if (reader_.wire_type() != pbf_wire_type::length_delimited) {
        values.push_back(real());
        return;
    }
    guarded([&] {
        for (const float value : reader_.get_packed_float()) values.push_back(value);
    });
}

void Wire::append(std::vector<double>& values) {
    if (reader_.wire_type() != pbf_wire_type::length_delimited) {
        require(pbf_wire_type::fixed64);
        values.push_back(guarded([&] { return reader_.get_double(); }));
        return;
    }
    guarded([&] {
        for (const double value : reader_.get_packed_double()) values.push_back(value);
    });
}

StringEntry read_string_entry(std::string_view message) {
    StringEntry entry;
    for (Wire wire(message); wire.next();) {
        if (wire.tag() == 1)
            entry.key = wire.bytes();
        else if (wire.tag() == 2)
            entry.value = wire.bytes();
        else
            wire.skip();
    }
    return entry;
}

}  // namespace headway
