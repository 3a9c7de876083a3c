#include "tensor/strings.h"

#include "base/error.h"

namespace headway {

Hash Strings::hash() const {
    Hasher hasher;
    hasher.add(shape.text());
    for (const std::string& value : values)
        hasher.add(static_cast<int64_t>(value.size())).add_bytes(value.data(), value.size());
    return hasher.finish();
}

StringsWriter::StringsWriter(Shape shape, int64_t limit_bytes) : strings_{std::move(shape), {}}, left_(limit_bytes) {
    const int64_t count = strings_.shape.elements();
    if (count > left_ / static_cast<int64_t>(sizeof(std::string)))
        throw UserError("strings of shape " + strings_.shape.text() + " are too many");
    left_ -= count * static_cast<int64_t>(sizeof(std::string));
    strings_.values.reserve(static_cast<size_t>(count));
}

void StringsWriter::add(std::string_view first, std::string_view second) {
    const auto bytes = static_cast<int64_t>(first.size() + second.size());
    if (bytes > left_) throw UserError("strings of shape " + strings_.shape.text() + " are too long");
    left_ -= bytes;
    strings_.values.emplace_back(first).append(second);
}

Strings StringsWriter::finish() && {
    HEADWAY_CHECK(static_cast<int64_t>(strings_.values.size()) == strings_.shape.elements());
    return std::move(strings_);
}

}  // namespace headway
