#include "protobuf_mutator.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "base/rng.h"

namespace headway::fuzz {
namespace {

using protozero::pbf_wire_type;

constexpr int deepest = 40;
constexpr size_t most_fields = 4000;

// A field of a message. A length-delimited one is a message itself where its bytes read as one: nothing in them says
// so.
struct Field {
    uint32_t tag = 1;
    pbf_wire_type type = pbf_wire_type::varint;
    uint64_t number = 0;  // varint, fixed32, fixed64
    std::string bytes;    // length-delimited
    std::optional<std::vector<Field>> message;
};
using Message = std::vector<Field>;

bool reads_as_text(std::string_view bytes) {
    return std::ranges::all_of(bytes, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::optional<Message> parse(std::string_view bytes, int depth, size_t& budget) {
    Message message;
    try {
        protozero::pbf_reader reader(bytes.data(), bytes.size());
        while (reader.next()) {
            if (budget == 0) return std::nullopt;
            --budget;
            Field field{.tag = reader.tag(), .type = reader.wire_type()};
            switch (field.type) {
                case pbf_wire_type::varint:
                    field.number = reader.get_uint64();
                    break;
                case pbf_wire_type::fixed64:
                    field.number = reader.get_fixed64();
                    break;
                case pbf_wire_type::fixed32:
                    field.number = reader.get_fixed32();
                    break;
                case pbf_wire_type::length_delimited:
                    field.bytes = std::string(reader.get_view());
                    // texts of a few letters often read as messages, too
                    if (depth < deepest && !field.bytes.empty() && !reads_as_text(field.bytes))
                        field.message = parse(field.bytes, depth + 1, budget);
                    break;
                default:
                    return std::nullopt;
            }
            message.push_back(std::move(field));
        }
    } catch (const protozero::exception&) {
        return std::nullopt;
    }
    return message;
}

std::string written(const Message& message) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    for (const Field& field : message) {
        switch (field.type) {
            case pbf_wire_type::varint:
                writer.add_uint64(field.tag, field.number);
                break;
            case pbf_wire_type::fixed64:
                writer.add_fixed64(field.tag, field.number);
                break;
            case pbf_wire_type::fixed32:
                writer.add_fixed32(field.tag, static_cast<uint32_t>(field.number));
                break;
            default:
                writer.add_bytes(field.tag, field.message ? written(*field.message) : field.bytes);
        }
    }
    return bytes;
}

// All messages of a tree that hold something.
void collect(Message& message, std::vector<Message*>& all) {
    if (message.empty()) return;
    all.push_back(&message);
    for (Field& field : message)
        if (field.message) collect(*field.message, all);
}

class Change {
public:
    Change(Rng& rng, const std::vector<std::string>& words) : rng_(rng), words_(words) {}

    void apply(Message& root) {
        std::vector<Message*> all;
        collect(root, all);
        if (all.empty()) return;
        Message& message = *all[pick(all.size())];
        Field& field = message[pick(message.size())];
        switch (pick(10)) {
            case 0:
                message.erase(message.begin() + static_cast<std::ptrdiff_t>(pick(message.size())));
                return;
            case 1: {
                Field copy = field;
                message.insert(message.begin() + static_cast<std::ptrdiff_t>(pick(message.size() + 1)),
                               std::move(copy));
                return;
            }
            case 2:
                std::swap(field, message[pick(message.size())]);
                return;
            case 3:
                field.tag = static_cast<uint32_t>(1 + pick(25));
                return;
            case 4: {  // a field from elsewhere in the tree
                const Message& other = *all[pick(all.size())];
                Field copy = other[pick(other.size())];
                message.insert(message.begin() + static_cast<std::ptrdiff_t>(pick(message.size() + 1)),
                               std::move(copy));
                return;
            }
            default:
                change_value(field);
        }
    }

private:
    size_t pick(size_t count) { return static_cast<size_t>(rng_.below(count)); }

    uint64_t interesting_number(uint64_t from) {
        constexpr int64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     -1,
                                     -2,
                                     127,
                                     255,
                                     65536,
                                     std::numeric_limits<int32_t>::max(),
                                     std::numeric_limits<int32_t>::min(),
                                     int64_t{1} << 40,
                                     int64_t{1} << 62,
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
        switch (pick(4)) {
            case 0:
                return static_cast<uint64_t>(edges[pick(std::size(edges))]);
            case 1:
                return from + pick(7) - 3;
            case 2:
                return pick(24);
            default:
                return from ^ (uint64_t{1} << pick(64));
        }
    }

    void change_value(Field& field) {
        if (field.message) {  // its bytes as they are
            if (pick(8) == 0) field.message->clear();
            return;
        }
        if (field.type != pbf_wire_type::length_delimited) {
            field.number = interesting_number(field.number);
            return;
        }
        const bool is_text = reads_as_text(field.bytes);
        if (is_text && pick(3) != 0) {
            field.bytes = words_[pick(words_.size())];
        } else if (pick(4) == 0) {
            field.bytes.resize(pick(2 * field.bytes.size() + 9), '\0');
        } else if (pick(2) == 0 && field.bytes.size() >= 8) {  // raw data are often rows of int64
            const uint64_t number = interesting_number(1);
            const size_t at = pick(field.bytes.size() / 8) * 8;
            std::copy_n(reinterpret_cast<const char*>(&number), 8,
                        field.bytes.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (!field.bytes.empty()) {
            field.bytes[pick(field.bytes.size())] = static_cast<char>(pick(256));
        }
    }

    Rng& rng_;
    const std::vector<std::string>& words_;
};

std::optional<Message> parse(std::string_view bytes) {
    size_t budget = most_fields;
    return parse(bytes, 0, budget);
}

}  // namespace

std::string ProtobufMutator::mutated(std::string_view message, size_t most_bytes, uint64_t seed) const {
    std::optional<Message> tree = parse(message);
    if (!tree || tree->empty()) return std::string(message);
    Rng rng(seed);
    Change change(rng, words_);
    for (uint64_t left = 1 + rng.below(4); left > 0; --left) change.apply(*tree);
    std::string bytes = written(*tree);
    return bytes.size() <= most_bytes ? bytes : std::string(message);
}

std::string ProtobufMutator::crossed(std::string_view a, std::string_view b, size_t most_bytes, uint64_t seed) const {
    std::optional<Message> tree = parse(a), other = parse(b);
    if (!tree || !other) return std::string(a);
    std::vector<Message*> places, sources;
    collect(*tree, places);
    collect(*other, sources);
    if (places.empty() || sources.empty()) return std::string(a);
    Rng rng(seed);
    Message& place = *places[rng.below(places.size())];
    const Message& source = *sources[rng.below(sources.size())];
    for (uint64_t left = 1 + rng.below(3); left > 0; --left) place.push_back(source[rng.below(source.size())]);
    std::string bytes = written(*tree);
    return bytes.size() <= most_bytes ? bytes : std::string(a);
}

}  // namespace headway::fuzz
