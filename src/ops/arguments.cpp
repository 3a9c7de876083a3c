#include "ops/arguments.h"

#include <algorithm>

namespace headway {
namespace {

OptionalIntegers from_attribute(const Attributes& attributes, const char* name) {
    if (!attributes.has(name)) return std::nullopt;
    return attributes.integers(name);
}

}  // namespace

OptionalIntegers integers_of(const InferContext& context, size_t index, const char* name) {
    return context.has(index) ? context.required_integers(index, name) : from_attribute(context.attributes(), name);
}

OptionalIntegers integers_of(const ReferenceContext& context, size_t index, const char* name) {
    return context.has(index) ? context.in(index).to_int64() : from_attribute(context.attributes, name);
}

std::vector<int64_t> normalized_axes(const std::vector<int64_t>& axes, size_t rank) {
    std::vector<int64_t> normal;
    for (int64_t axis : axes) {
        normal.push_back(normalized_axis(axis, rank));
        if (std::count(normal.begin(), normal.end(), normal.back()) > 1)
            throw UserError("axis " + std::to_string(axis) + " stands twice");
    }
    return normal;
}

std::vector<bool> axis_flags(const std::vector<int64_t>& axes, size_t rank) {
    std::vector<bool> flags(rank, false);
    for (int64_t axis : axes) flags[static_cast<size_t>(axis)] = true;
    return flags;
}

int64_t checked_index(int64_t index, int64_t extent) {
    if (index < -extent || index >= extent)
        throw UserError("index " + std::to_string(index) + " is outside an axis of " + std::to_string(extent));
    return index < 0 ? index + extent : index;
}

int64_t axis_of(const Attributes& attributes, int64_t fallback, size_t rank) {
    return normalized_axis(attributes.integer("axis", fallback), rank);
}

void require_length(const std::vector<int64_t>& values, size_t wanted, const char* name) {
    if (values.size() != wanted)
        throw UserError(std::string(name) + " has " + std::to_string(values.size()) + " entries instead of " +
                        std::to_string(wanted));
}

double scalar_of(const Tensor& tensor, const char* name) {
    if (tensor.elements() != 1)
        throw UserError(std::string(name) + " must hold one element, not " + std::to_string(tensor.elements()));
    return tensor.at(0);
}

ElementType type_of(const Attributes& attributes, const char* name, ElementType fallback, TypeSet allowed) {
    const int64_t number = attributes.integer(name, static_cast<int64_t>(fallback));
    const auto type = static_cast<ElementType>(number);
    if (number < 0 || number > 31 || !allowed.contains(type))
        throw Unsupported(std::string(name) + " " + std::to_string(number) + " is not handled");
    return type;
}

void copy_reference(const ReferenceContext& context) {
    std::ranges::copy(context.in(0).bytes(), context.out(0).mutable_bytes().begin());
}

}  // namespace headway
