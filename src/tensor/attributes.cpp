#include "tensor/attributes.h"

namespace headway {
namespace {

template <class T>
const T* typed(const Attributes& attributes, std::string_view name) {
    const AttributeValue* value = attributes.find(name);
    if (value == nullptr) return nullptr;
    if (const T* match = std::get_if<T>(value)) return match;
    throw UserError("attribute " + std::string(name) + " has the wrong type");
}

template <class T>
T typed_or(const Attributes& attributes, std::string_view name, T fallback) {
    const T* value = typed<T>(attributes, name);
    return value != nullptr ? *value : fallback;
}

}  // namespace

const AttributeValue* Attributes::find(std::string_view name) const {
    const auto at = values_.find(name);
    return at == values_.end() ? nullptr : &at->second;
}

int64_t Attributes::integer(std::string_view name, int64_t fallback) const { return typed_or(*this, name, fallback); }
float Attributes::real(std::string_view name, float fallback) const { return typed_or(*this, name, fallback); }
std::string Attributes::text(std::string_view name, std::string fallback) const {
    return typed_or(*this, name, std::move(fallback));
}
std::vector<int64_t> Attributes::integers(std::string_view name, std::vector<int64_t> fallback) const {
    return typed_or(*this, name, std::move(fallback));
}
std::vector<float> Attributes::reals(std::string_view name, std::vector<float> fallback) const {
    return typed_or(*this, name, std::move(fallback));
}
std::vector<std::string> Attributes::texts(std::string_view name, std::vector<std::string> fallback) const {
    return typed_or(*this, name, std::move(fallback));
}
const Tensor* Attributes::tensor(std::string_view name) const { return typed<Tensor>(*this, name); }
const Strings* Attributes::strings(std::string_view name) const { return typed<Strings>(*this, name); }

}  // namespace headway
