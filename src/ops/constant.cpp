#include <algorithm>

#include "ops/arguments.h"

namespace headway {
namespace {

Tensor constant_value(const Attributes& attributes) {
    if (const Tensor* value = attributes.tensor("value")) return *value;
    if (attributes.has("value_float")) return Tensor::scalar(attributes.real("value_float", 0));
    if (attributes.has("value_int")) return Tensor::scalar(attributes.integer("value_int", 0));
    if (attributes.has("value_floats")) {
        const std::vector<float> values = attributes.reals("value_floats");
        return Tensor::of<float>(Shape{static_cast<int64_t>(values.size())}, values);
    }
    if (attributes.has("value_ints")) {
        const std::vector<int64_t> values = attributes.integers("value_ints");
        return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
    }
    throw Unsupported("has no value of a supported kind (a tensor, numbers or strings)");
}

std::optional<Strings> constant_strings(const Attributes& attributes) {
    const AttributeValue* value = attributes.find("value");
    if (value != nullptr && std::holds_alternative<Strings>(*value)) return std::get<Strings>(*value);
    if (attributes.has("value_string")) return Strings{Shape{}, {attributes.text("value_string", "")}};
    if (!attributes.has("value_strings")) return std::nullopt;
    std::vector<std::string> values = attributes.texts("value_strings");
    return Strings{Shape{static_cast<int64_t>(values.size())}, std::move(values)};
}

void infer_constant(InferContext& context) {
    if (const std::optional<Strings> strings = constant_strings(context.attributes()))
        return context.set_output(0, ElementType::string, strings->shape);
    const Tensor value = constant_value(context.attributes());
    context.set_output(0, value.type(), value.shape());
}

void constant_reference(const ReferenceContext& context) {
    const Tensor value = constant_value(context.attributes);
    std::ranges::copy(value.bytes(), context.out(0).mutable_bytes().begin());
}

std::vector<Datum> interpret_constant(const InterpretContext& context) {
    return {constant_strings(context.attributes()).value()};
}

}  // namespace

const Op constant_op{{
    .name = "Constant",
    .since = {1, 9, 11, 12, 13, 19, 21, 23, 24, 25},
    .inputs = {0, 0},
    .attributes = {{"value", "tensor", "", "the value"},
                   {"value_float", "float", "", "the value, as a scalar"},
                   {"value_floats", "floats", "", "the value, as a list"},
                   {"value_int", "int", "", "the value, as a scalar"},
                   {"value_ints", "ints", "", "the value, as a list"},
                   {"value_string", "string", "", "the value, as a scalar"},
                   {"value_strings", "strings", "", "the value, as a list"}},
    .infer = infer_constant,
    .reference = constant_reference,
    .interpret = interpret_constant,
    .data_movement = true,
    .help = "A value that stands in the model.",
}};

}  // namespace headway
