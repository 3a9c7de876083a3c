// Operator attributes by name: what ONNX stores, without sub-graphs (those belong to a graph's node).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/strings.h"
#include "tensor/tensor.h"

namespace headway {

using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                                    std::vector<std::string>, Tensor, Strings>;

class Attributes {
public:
    void set(std::string name, AttributeValue value) { values_[std::move(name)] = std::move(value); }
    void erase(const std::string& name) { values_.erase(name); }
    bool has(std::string_view name) const { return find(name) != nullptr; }

    // The value, or `fallback` when absent. UserError when the attribute has another type.
    int64_t integer(std::string_view name, int64_t fallback) const;
    float real(std::string_view name, float fallback) const;
    std::string text(std::string_view name, std::string fallback) const;
    std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> fallback = {}) const;
    std::vector<float> reals(std::string_view name, std::vector<float> fallback = {}) const;
    std::vector<std::string> texts(std::string_view name, std::vector<std::string> fallback = {}) const;
    const Tensor* tensor(std::string_view name) const;    // nullptr when absent
    const Strings* strings(std::string_view name) const;  // a tensor of strings; nullptr when absent

    const AttributeValue* find(std::string_view name) const;
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }
    bool empty() const { return values_.empty(); }

private:
    std::map<std::string, AttributeValue, std::less<>> values_;
};

}  // namespace headway
