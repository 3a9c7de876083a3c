#include "kernels/kernel.h"

#include <algorithm>

#include "base/text.h"

namespace headway {
namespace {

std::string desc_text(const TensorDesc& desc) {
    std::string text = std::string(to_string(desc.type)) + "[" + desc.shape.text() + "]";
    if (desc.layout != Layout::plain) text += std::string(":") + std::string(to_string(desc.layout));
    return text;
}

template <class T>
std::string list_text(const std::vector<T>& values) {
    std::string text;
    for (const T& value : values) {
        if (!text.empty()) text += ",";
        if constexpr (std::is_same_v<T, std::string>)
            text += "\"" + escaped(value) + "\"";
        else
            text += std::to_string(value);
    }
    return "[" + text + "]";
}

std::string attribute_text(const AttributeValue& value) {
    return std::visit(
        [](const auto& held) -> std::string {
            using T = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<T, std::string>)
                return "\"" + escaped(held) + "\"";
            else if constexpr (std::is_same_v<T, Tensor>)
                return desc_text({held.type(), held.shape(), Layout::plain});
            else if constexpr (std::is_same_v<T, Strings>)
                return desc_text({ElementType::string, held.shape, Layout::plain});
            else if constexpr (std::is_arithmetic_v<T>)
                return std::to_string(held);
            else
                return list_text(held);
        },
        value);
}

std::string src_text(const Problem& problem) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!problem.src[i])
            parts.emplace_back("_");
        else
            parts.push_back((i < problem.constant.size() && problem.constant[i] ? "const " : "") +
                            desc_text(*problem.src[i]));
    }
    return join(parts, ", ");
}

std::string descs_text(const std::vector<TensorDesc>& descs) {
    std::vector<std::string> parts;
    for (const TensorDesc& desc : descs) parts.push_back(desc_text(desc));
    return join(parts, ", ");
}

std::string constant_name(size_t src) { return "src" + std::to_string(src); }

template <class T>
std::optional<T> held_constant(const Problem& problem, size_t src) {
    const AttributeValue* value = problem.attributes.find(constant_name(src));
    if (value == nullptr || !std::holds_alternative<T>(*value)) return std::nullopt;
    return std::get<T>(*value);
}

}  // namespace

std::string_view to_string(ComputeFormat format) { return format == ComputeFormat::bf16 ? "bf16" : "fp32"; }

std::string Problem::text() const {
    std::string line = op;
    if (version != 0) line += ":" + std::to_string(version);
    line += "(" + src_text(*this) + ")";
    if (!attributes.empty()) {
        std::vector<std::string> parts;
        for (const auto& [name, value] : attributes) parts.push_back(escaped(name) + "=" + attribute_text(value));
        line += " {" + join(parts, ", ") + "}";
    }
    if (!epilogue.empty()) line += " then (" + descs_text(operands) + ") " + epilogue.text();
    return line + " -> " + descs_text(dst);
}

void give_constants(Problem& problem, std::span<const Tensor* const> constants) {
    // Integers are bounds of something; small float tensors are scales or a value, larger ones weights.
    constexpr int64_t most_integers = 64, most_reals = 8;
    for (size_t i = 0; i < constants.size(); ++i) {
        if (constants[i] == nullptr) continue;
        if (constants[i]->elements() > (is_float(constants[i]->type()) ? most_reals : most_integers)) continue;
        const Tensor& tensor = *constants[i];
        if (tensor.type() == ElementType::i64 || tensor.type() == ElementType::i32) {
            problem.attributes.set(constant_name(i), tensor.to_int64());
        } else if (tensor.type() == ElementType::f32) {
            const std::span<const float> values = tensor.data<float>();
            problem.attributes.set(constant_name(i), std::vector<float>(values.begin(), values.end()));
        }
    }
}

std::optional<std::vector<int64_t>> constant_integers(const Problem& problem, size_t src) {
    return held_constant<std::vector<int64_t>>(problem, src);
}

std::optional<std::vector<float>> constant_reals(const Problem& problem, size_t src) {
    return held_constant<std::vector<float>>(problem, src);
}

int Choices::index(const KnobBase& knob) const {
    const auto at = values_.find(knob.name());
    if (at == values_.end()) return 0;
    const int index = knob.index_of(at->second);
    if (index < 0)
        throw UserError("knob " + std::string(knob.name()) + " has no value '" + escaped(at->second) +
                        "'; values: " + join(knob.values(), ", "));
    return index;
}

Verdict Kernel::supports(const Problem& problem, const Target& target, const Choices& choices) const {
    if (std::find(fields_.ops.begin(), fields_.ops.end(), problem.op) == fields_.ops.end())
        return Verdict::no(Reason::operator_not_handled, problem.op);
    if (fields_.compute == ComputeFormat::bf16 && !target.avx512_bf16)
        return Verdict::no(Reason::isa, "this target has no bf16 arithmetic (AVX512_BF16)");
    if (target.isa < fields_.isa)
        return Verdict::no(Reason::isa, "target has " + std::string(to_string(target.isa)) + " (needs " +
                                            std::string(to_string(fields_.isa)) + ")");
    return fields_.supports(problem, target, choices);
}

}  // namespace headway
