#include "tensor/tensor_proto.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "base/checked.h"
#include "base/text.h"
#include "tensor/narrow.h"
#include "tensor/wire.h"

namespace headway {
namespace {

namespace field {
enum : uint32_t {
    dims = 1,
    data_type = 2,
    segment = 3,
    float_data = 4,
    int32_data = 5,
    string_data = 6,
    int64_data = 7,
    name = 8,
    raw_data = 9,
    double_data = 10,
    uint64_data = 11,
    external_data = 13,
    data_location = 14,
};
}  // namespace field

constexpr size_t max_rank = 64;  // beyond any operator; keeps hostile dims short

struct External {
    std::string location;
    int64_t offset = 0;
    std::optional<int64_t> length;
};

struct Message {
    std::string name;
    std::vector<int64_t> dims;
    int64_t data_type = 0;
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<int64_t> int32s, int64s, uint64s;
    std::optional<std::string_view> raw;
    std::vector<std::string_view> strings;
    bool is_external = false;
    External external;
};

int64_t parse_size(std::string_view text, std::string_view key) {
    int64_t value = -1;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value < 0)
        throw UserError("external data: " + std::string(key) + " is not a size");
    return value;
}

// Keys that are not known are ignored: nothing is ever looked up by them.
void read_external_entry(std::string_view bytes, External& external) {
    const auto [key, value] = read_string_entry(bytes);
    if (key == "location") external.location = value;
    if (key == "offset") external.offset = parse_size(value, key);
    if (key == "length") external.length = parse_size(value, key);
}

Message read_message(std::string_view bytes) {
    Message message;
    for (Wire wire(bytes); wire.next();) {
        switch (wire.tag()) {
            case field::dims:
                wire.append(message.dims);
                if (message.dims.size() > max_rank) throw UserError("a tensor of too many dimensions");
                break;
            case field::data_type:
                message.data_type = wire.integer();
                break;
            case field::float_data:
                wire.append(message.floats);
                break;
            case field::int32_data:
                wire.append(message.int32s);
                break;
            case field::int64_data:
                wire.append(message.int64s);
                break;
            case field::double_data:
                wire.append(message.doubles);
                break;
            case field::uint64_data:
                wire.append(message.uint64s);
                break;
            case field::name:
                message.name = wire.bytes();
                break;
            case field::raw_data:
                message.raw = wire.bytes();
                break;
            case field::external_data:
                read_external_entry(wire.bytes(), message.external);
                break;
            case field::data_location:
                message.is_external = wire.integer() == 1;
                break;
            case field::string_data:
                message.strings.push_back(wire.bytes());
                break;
            case field::segment:
                throw UserError("tensors in segments are not handled");
            default:
                wire.skip();
        }
    }
    return message;
}

ElementType element_type_of_number(int64_t number) {
    if (number == 0) throw UserError("a tensor without an element type");
    const auto type = number > 0 && number < 64 ? static_cast<ElementType>(number) : ElementType::undefined;
    if (size_of(type) == 0 && type != ElementType::string)
        throw Unsupported("element type number " + std::to_string(number) + " is not handled");
    return type;
}

void check_booleans(ElementType type, std::span<const std::byte> bytes) {
    if (type != ElementType::boolean) return;
    if (std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; }))
        throw UserError("a boolean tensor holds bytes other than 0 and 1");
}

Tensor viewed(ElementType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    check_booleans(type, bytes);
    if (bits_of(type) < 8) return unpacked(type, std::move(shape), bytes);
    if (reinterpret_cast<uintptr_t>(bytes.data()) % size_of(type) == 0)
        return Tensor(type, std::move(shape), bytes, std::move(owner));
    Tensor copy(type, std::move(shape));
    std::ranges::copy(bytes, copy.mutable_bytes().begin());
    return copy;
}

template <class T, class Source>
Tensor converted(ElementType type, const Shape& shape, const std::vector<Source>& values) {
    if (static_cast<int64_t>(values.size()) != shape.elements())
        throw UserError(std::to_string(values.size()) + " values for a tensor of shape " + shape.text());
    Tensor tensor(type, shape);
    auto* out = reinterpret_cast<T*>(tensor.mutable_bytes().data());
    for (size_t i = 0; i < values.size(); ++i) {
        const auto narrow = static_cast<T>(values[i]);
        if constexpr (std::is_same_v<Source, int64_t> && sizeof(T) < 8) {
            if (static_cast<int64_t>(narrow) != values[i])
                throw UserError("value " + std::to_string(values[i]) + " does not fit element type " +
                                std::string(to_string(type)));
        }
        out[i] = narrow;
    }
    return tensor;
}

// The typed field holds the bytes of the packed form, one in each integer.
Tensor from_packed_field(ElementType type, const Shape& shape, const std::vector<int64_t>& values) {
    const Tensor bytes = converted<uint8_t>(ElementType::u8, Shape{packed_bytes(type, shape.elements())}, values);
    return unpacked(type, shape, bytes.bytes());
}

Tensor from_typed_fields(const Message& message, ElementType type, const Shape& shape) {
    switch (type) {
        case ElementType::f32:
            return converted<float>(type, shape, message.floats);
        case ElementType::f64:
            return converted<double>(type, shape, message.doubles);
        case ElementType::i64:
            return converted<int64_t>(type, shape, message.int64s);
        case ElementType::u64:
            return converted<uint64_t>(type, shape, message.uint64s);
        case ElementType::u32:
            return converted<uint32_t>(type, shape, message.uint64s);
        case ElementType::i32:
            return converted<int32_t>(type, shape, message.int32s);
        case ElementType::i16:
            return converted<int16_t>(type, shape, message.int32s);
        case ElementType::i8:
            return converted<int8_t>(type, shape, message.int32s);
        case ElementType::u8:
        case ElementType::f8e4m3fn:
        case ElementType::f8e4m3fnuz:
        case ElementType::f8e5m2:
        case ElementType::f8e5m2fnuz:
        case ElementType::f8e8m0:
            return converted<uint8_t>(type, shape, message.int32s);
        case ElementType::u4:
        case ElementType::i4:
        case ElementType::f4e2m1:
        case ElementType::u2:
        case ElementType::i2:
            return from_packed_field(type, shape, message.int32s);
        case ElementType::boolean: {
            Tensor tensor = converted<uint8_t>(type, shape, message.int32s);
            check_booleans(type, tensor.bytes());
            return tensor;
        }
        case ElementType::u16:
        case ElementType::f16:
        case ElementType::bf16:
            return converted<uint16_t>(type, shape, message.int32s);
        default:
            throw InternalError("element type without a typed field");
    }
}

bool has_typed_fields(const Message& message) {
    return !message.floats.empty() || !message.doubles.empty() || !message.int32s.empty() || !message.int64s.empty() ||
           !message.uint64s.empty();
}

Tensor from_external(const Message& message, ElementType type, const Shape& shape, int64_t bytes,
                     ExternalData* external) {
    if (external == nullptr) throw UserError("external data is not allowed here");
    if (message.raw || has_typed_fields(message)) throw UserError("a tensor with external and inline data");
    if (message.external.length && *message.external.length != bytes)
        throw UserError("external data: length " + std::to_string(*message.external.length) + ", but shape " +
                        shape.text() + " needs " + std::to_string(bytes) + " bytes");
    const ExternalData::Bytes found = external->load(message.external.location, message.external.offset, bytes);
    return viewed(type, shape, found.bytes, found.owner);
}

// Nothing is allocated for a shape: the strings that are there bound its size.
Strings strings_of(const Message& message, Shape shape) {
    if (message.is_external || message.raw || has_typed_fields(message))
        throw UserError("a tensor of strings with data other than strings");
    if (static_cast<int64_t>(message.strings.size()) != shape.elements())
        throw UserError(std::to_string(message.strings.size()) + " strings for a tensor of shape " + shape.text());
    return {std::move(shape), {message.strings.begin(), message.strings.end()}};
}

Tensor numbers_of(const Message& message, ElementType type, const Shape& shape,
                  const std::shared_ptr<const void>& owner, ExternalData* external) {
    if (!message.strings.empty()) throw UserError("string values in a tensor of numbers");
    const int64_t size = packed_bytes(type, shape.elements());
    if (message.is_external) return from_external(message, type, shape, size, external);
    if (!message.raw) return from_typed_fields(message, type, shape);
    if (has_typed_fields(message)) throw UserError("a tensor with raw and typed data");
    if (static_cast<int64_t>(message.raw->size()) != size)
        throw UserError(std::to_string(message.raw->size()) + " bytes of raw data for a tensor of shape " +
                        shape.text() + " and type " + std::string(to_string(type)));
    return viewed(type, shape, std::as_bytes(std::span(message.raw->data(), message.raw->size())), owner);
}

}  // namespace

std::string tensor_proto_name(std::string_view message) {
    for (Wire wire(message); wire.next();) {
        if (wire.tag() == field::name) return std::string(wire.bytes());
        wire.skip();
    }
    return "";
}

NamedValues read_tensor_values_proto(std::string_view bytes, const std::shared_ptr<const void>& owner,
                                     ExternalData* external) {
    Message message = read_message(bytes);
    const ElementType type = element_type_of_number(message.data_type);
    if (std::ranges::any_of(message.dims, [](int64_t dim) { return dim < 0; }))
        throw UserError("a tensor with a negative dimension");
    Shape shape(std::move(message.dims));
    NamedValues result{std::move(message.name), {}};
    if (type == ElementType::string)
        result.values = strings_of(message, std::move(shape));
    else
        result.values = numbers_of(message, type, shape, owner, external);
    return result;
}

NamedTensor read_tensor_proto(std::string_view bytes, const std::shared_ptr<const void>& owner,
                              ExternalData* external) {
    NamedValues named = read_tensor_values_proto(bytes, owner, external);
    if (std::holds_alternative<Strings>(named.values)) throw Unsupported("string tensors are not handled");
    return {std::move(named.name), std::get<Tensor>(std::move(named.values))};
}

std::string write_tensor_proto(const Tensor& tensor, std::string_view name) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_packed_int64(field::dims, tensor.shape().begin(), tensor.shape().end());
    writer.add_int32(field::data_type, static_cast<int32_t>(tensor.type()));
    writer.add_string(field::name, name.data(), name.size());
    if (bits_of(tensor.type()) < 8)
        writer.add_bytes(field::raw_data, packed(tensor));
    else
        writer.add_bytes(field::raw_data, reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size_bytes());
    return bytes;
}

std::string write_tensor_proto(const Strings& strings, std::string_view name) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_packed_int64(field::dims, strings.shape.begin(), strings.shape.end());
    writer.add_int32(field::data_type, static_cast<int32_t>(ElementType::string));
    for (const std::string& value : strings.values) writer.add_bytes(field::string_data, value);
    writer.add_string(field::name, name.data(), name.size());
    return bytes;
}

}  // namespace headway
