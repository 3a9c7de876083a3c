#include <cmath>
#include <numeric>
#include <unordered_map>

#include "ops/arguments.h"

namespace headway {
namespace {

constexpr TypeSet label_types =
    TypeSet{ElementType::f32, ElementType::f64, ElementType::i16, ElementType::i32, ElementType::i64} | string_type;

Shape label_list_shape(size_t count) { return {static_cast<int64_t>(count)}; }

// The keys or the values: `prefix` with _strings, _int64s or _floats after it, or from opset 4 on a tensor.
Datum label_list(const Attributes& attributes, const std::string& prefix) {
    if (const AttributeValue* value = attributes.find(prefix + "_tensor")) {
        if (const auto* strings = std::get_if<Strings>(value)) return *strings;
        return *attributes.tensor(prefix + "_tensor");
    }
    if (attributes.has(prefix + "_strings")) {
        std::vector<std::string> texts = attributes.texts(prefix + "_strings");
        return Strings{label_list_shape(texts.size()), std::move(texts)};
    }
    if (attributes.has(prefix + "_int64s")) {
        const std::vector<int64_t> integers = attributes.integers(prefix + "_int64s");
        return Tensor::of<int64_t>(label_list_shape(integers.size()), integers);
    }
    if (!attributes.has(prefix + "_floats")) throw UserError("has no " + prefix);
    const std::vector<float> reals = attributes.reals(prefix + "_floats");
    return Tensor::of<float>(label_list_shape(reals.size()), reals);
}

int64_t label_count(const Datum& list) {
    if (const auto* strings = std::get_if<Strings>(&list)) return static_cast<int64_t>(strings->values.size());
    return std::get<Tensor>(list).elements();
}

// What stands where no key fits, as a list of one element of the values' type.
Datum label_default(const Attributes& attributes, const Datum& values) {
    if (attributes.has("default_tensor")) return label_list(attributes, "default");
    if (std::holds_alternative<Strings>(values))
        return Strings{Shape{1}, {attributes.text("default_string", "_Unused")}};
    const ElementType type = std::get<Tensor>(values).type();
    Tensor fallback(type, Shape{1});
    fallback.set(0, is_float(type) ? attributes.real("default_float", -0.0F)
                                   : static_cast<double>(attributes.integer("default_int64", -1)));
    if (type == ElementType::i64)
        fallback = Tensor::of<int64_t>(Shape{1}, std::vector{attributes.integer("default_int64", -1)});
    return fallback;
}

// Equal numbers of one type, and NaN, have equal keys.
std::string label_key(const Tensor& tensor, int64_t index) {
    if (tensor.type() == ElementType::i64) return std::to_string(tensor.data<int64_t>()[static_cast<size_t>(index)]);
    const double value = tensor.at(index);
    if (std::isnan(value)) return "nan";
    const double positive = value + 0.0;  // -0 equals 0
    return {reinterpret_cast<const char*>(&positive), sizeof positive};
}

std::vector<std::string> label_keys(const Datum& list) {
    if (const auto* strings = std::get_if<Strings>(&list)) return strings->values;
    const Tensor& numbers = std::get<Tensor>(list);
    std::vector<std::string> keys;
    for (int64_t i = 0; i < numbers.elements(); ++i) keys.push_back(label_key(numbers, i));
    return keys;
}

ElementType label_type(const Datum& list) {
    const auto* numbers = std::get_if<Tensor>(&list);
    return numbers == nullptr ? ElementType::string : numbers->type();
}

// For each element of x the number of the last key that it equals, else that of keys.
std::vector<int64_t> label_matches(const Datum& keys, const Datum& x) {
    if (label_type(keys) != label_type(x))
        throw UserError("its input is of " + std::string(to_string(label_type(x))) + ", its keys of " +
                        std::string(to_string(label_type(keys))));
    std::unordered_map<std::string, int64_t> numbers;
    int64_t count = 0;
    for (const std::string& key : label_keys(keys)) numbers[key] = count++;
    std::vector<int64_t> matches;
    for (const std::string& key : label_keys(x)) {
        const auto found = numbers.find(key);
        matches.push_back(found == numbers.end() ? count : found->second);
    }
    return matches;
}

Datum labels_at(const Datum& values, const Datum& fallback, const std::vector<int64_t>& matches, const Shape& shape) {
    if (label_type(values) != label_type(fallback) || label_count(fallback) != 1)
        throw UserError("its default is not one element of the type of its values");
    const int64_t count = label_count(values);
    if (const auto* texts = std::get_if<Strings>(&values)) {
        StringsWriter labels(shape);
        for (const int64_t match : matches)
            labels.add(match < count ? texts->values[static_cast<size_t>(match)]
                                     : std::get<Strings>(fallback).values[0]);
        return std::move(labels).finish();
    }
    const Tensor& numbers = std::get<Tensor>(values);
    const Tensor& other = std::get<Tensor>(fallback);
    Tensor labels(numbers.type(), shape);
    const size_t size = size_of(numbers.type());
    std::byte* to = labels.mutable_bytes().data();
    for (const int64_t match : matches)
        to = std::copy_n(
            match < count ? numbers.bytes().data() + static_cast<size_t>(match) * size : other.bytes().data(), size,
            to);
    return labels;
}

Shape label_shape(const Datum& x) {
    if (const auto* strings = std::get_if<Strings>(&x)) return strings->shape;
    return std::get<Tensor>(x).shape();
}

// Opset 1: strings become their positions among the classes, and positions the strings there.
std::vector<Datum> encode_classes(const InterpretContext& context) {
    const std::vector<std::string> classes = context.attributes().texts("classes_strings");
    std::vector<int64_t> positions(classes.size());
    std::iota(positions.begin(), positions.end(), 0);
    Datum keys = Strings{label_list_shape(classes.size()), classes};
    Datum values = Tensor::of<int64_t>(label_list_shape(classes.size()), positions);
    const Datum& x = context.datum(0);
    if (!std::holds_alternative<Strings>(x)) std::swap(keys, values);
    return {labels_at(values, label_default(context.attributes(), values), label_matches(keys, x), label_shape(x))};
}

std::vector<Datum> interpret_label_encoder(const InterpretContext& context) {
    const Datum& x = context.datum(0);
    if (std::holds_alternative<Tensor>(x) ? !label_types.contains(label_type(x)) : !std::holds_alternative<Strings>(x))
        throw Unsupported("its input is " + std::string(kind_of(x)) + " of a type that is not handled");
    if (context.node.version < 2) return encode_classes(context);
    const Datum keys = label_list(context.attributes(), "keys");
    const Datum values = label_list(context.attributes(), "values");
    if (label_count(keys) != label_count(values))
        throw UserError("it has " + std::to_string(label_count(keys)) + " keys and " +
                        std::to_string(label_count(values)) + " values");
    return {labels_at(values, label_default(context.attributes(), values), label_matches(keys, x), label_shape(x))};
}

}  // namespace

const Op label_encoder_op{{
    .name = "LabelEncoder",
    .domain = "ai.onnx.ml",
    .since = {1, 2, 4},
    .types = label_types,
    .attributes = {{"classes_strings", "strings", "", "the classes, by position (opset 1)"},
                   {"default_float", "float", "-0.0", "where no key fits and the values are floats"},
                   {"default_int64", "int", "-1", "where no key fits and the values are integers"},
                   {"default_string", "string", "_Unused", "where no key fits and the values are strings"},
                   {"default_tensor", "tensor", "", "one element of the type of the values (opset 4)"},
                   {"keys_floats", "floats", "", "the keys"},
                   {"keys_int64s", "ints", "", "the keys"},
                   {"keys_strings", "strings", "", "the keys"},
                   {"keys_tensor", "tensor", "", "the keys (opset 4)"},
                   {"values_floats", "floats", "", "what stands for each key"},
                   {"values_int64s", "ints", "", "what stands for each key"},
                   {"values_strings", "strings", "", "what stands for each key"},
                   {"values_tensor", "tensor", "", "what stands for each key (opset 4)"}},
    .interpret = interpret_label_encoder,
    .help = "The value of the key that each element equals, or the default. Of equal keys the last one counts; NaN "
            "equals NaN. Interpreted only.",
}};

}  // namespace headway
