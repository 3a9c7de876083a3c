// Archives: one list of fields (plan_fields.h) writes, reads and hashes a structure, so that the three never drift
// apart. Everything is little-endian with fixed widths; floats keep their bits; containers are preceded by their count.
// There is no recursion and no schema in the bytes: the file's version says what the fields are.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace headway {

static_assert(std::endian::native == std::endian::little);

// T or const T: field lists serve both directions.
template <class T, class U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

template <class T>
concept Flat = std::integral<T> || std::floating_point<T>;

// Appends fields to a byte string.
class Writer {
public:
    static constexpr bool reading = false;

    template <class T>
    void operator()(const char*, const T& value) {
        put(value);
    }
    void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
    const std::string& bytes() const { return bytes_; }

private:
    template <Flat T>
    void put(T value) {
        raw(&value, sizeof value);
    }
    void put(bool value) { put(static_cast<uint8_t>(value)); }
    template <class T>
    requires std::is_enum_v<T>
    void put(T value) { put(static_cast<uint8_t>(value)); }
    void put(const std::string& text) {
        put(static_cast<uint64_t>(text.size()));
        raw(text.data(), text.size());
    }
    template <class T>
    void put(const std::vector<T>& list) {
        put(static_cast<uint64_t>(list.size()));
        for (const auto& item : list) put(static_cast<const T&>(item));
    }
    void put(const std::vector<std::byte>& blob) {
        put(static_cast<uint64_t>(blob.size()));
        raw(blob.data(), blob.size());
    }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class... T>
    void put(const std::variant<T...>& value) {
        put(static_cast<uint8_t>(value.index()));
        std::visit([this](const auto& held) { put(held); }, value);
    }
    template <class T>
    requires std::is_class_v<T>
    void put(const T& record) { fields(*this, record); }

    std::string bytes_;
};

// Reads the same fields back from untrusted bytes. UserError naming the section and the field; a count is believed only
// as far as there are bytes left, so nothing larger than the section is ever allocated.
class Reader {
public:
    static constexpr bool reading = true;

    Reader(std::string section, std::span<const std::byte> bytes) : section_(std::move(section)), bytes_(bytes) {}

    template <class T>
    void operator()(const char* field, T& value) {
        path_.push_back({field, -1});
        get(value);
        path_.pop_back();
    }
    std::span<const std::byte> raw(uint64_t size) {
        if (size > bytes_.size()) fail("ends too early");
        const auto piece = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return piece;
    }
    bool at_end() const { return bytes_.empty(); }
    void expect_end() const {
        if (!bytes_.empty()) fail("has " + std::to_string(bytes_.size()) + " bytes too many");
    }
    [[noreturn]] void fail(const std::string& what) const;

private:
    struct Place {
        const char* field;
        int64_t item;
    };

    template <Flat T>
    void get(T& value) {
        std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    }
    void get(bool& value) {
        uint8_t byte = 0;
        get(byte);
        if (byte > 1) fail("is neither true nor false");
        value = byte == 1;
    }
    template <class T>
    requires std::is_enum_v<T>
    void get(T& value) {
        uint8_t byte = 0;
        get(byte);
        value = static_cast<T>(byte);
        if (!valid(value)) fail("has an unknown value " + std::to_string(byte));
    }
    void get(std::string& text) {
        const auto piece = raw(count());
        text.assign(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    template <class T>
    void get(std::vector<T>& list) {
        list.clear();
        const uint64_t size = count();
        for (uint64_t i = 0; i < size; ++i) {
            path_.back().item = static_cast<int64_t>(i);
            T item{};
            get(item);
            list.push_back(std::move(item));
        }
        path_.back().item = -1;
    }
    void get(std::vector<std::byte>& blob) {
        const auto piece = raw(count());
        blob.assign(piece.begin(), piece.end());
    }
    template <class T>
    void get(std::optional<T>& value) {
        bool present = false;
        get(present);
        if (present)
            get(value.emplace());
        else
            value.reset();
    }
    template <class... T>
    void get(std::variant<T...>& value) {
        uint8_t index = 0;
        get(index);
        if (index >= sizeof...(T)) fail("has an unknown kind " + std::to_string(index));
        alternative<0>(value, index);
    }
    template <size_t I, class... T>
    void alternative(std::variant<T...>& value, size_t index) {
        if (index == I)
            get(value.template emplace<I>());
        else if constexpr (I + 1 < sizeof...(T))
            alternative<I + 1>(value, index);
    }
    template <class T>
    requires std::is_class_v<T>
    void get(T& record) { fields(*this, record); }

    // Each item takes at least one byte.
    uint64_t count() {
        uint64_t size = 0;
        get(size);
        if (size > bytes_.size()) fail("says it has " + std::to_string(size) + " items");
        return size;
    }

    std::string section_;
    std::span<const std::byte> bytes_;
    std::vector<Place> path_;
};

}  // namespace headway
