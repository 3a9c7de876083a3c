#include <limits>

#include "ops/elementwise.h"
#include "ops/first_forms.h"
#include "ops/number_text.h"
#include "tensor/narrow.h"

namespace headway {
namespace {

ElementType cast_target(const Attributes& attributes, int version) {
    const int64_t number = version < 6 ? first_cast_target(attributes) : attributes.integer("to", 0);
    const auto type = static_cast<ElementType>(number);
    if (number <= 0 || number > 255 || !any_types.contains(number < 32 ? type : ElementType::undefined))
        throw Unsupported("cannot cast to element type " + std::to_string(number));
    return type;
}

NarrowRounding cast_rounding(const Attributes& attributes) {
    NarrowRounding rounding;
    rounding.saturate = attributes.integer("saturate", 1) != 0;
    const std::string mode = attributes.text("round_mode", "up");
    if (mode == "down")
        rounding.power = PowerRounding::down;
    else if (mode == "nearest")
        rounding.power = PowerRounding::nearest;
    else if (mode != "up")
        throw UserError("attribute round_mode is none of up, down and nearest");
    return rounding;
}

// Floating point to integer truncates, saturates, and makes NaN zero, in every place that casts; integers wrap.
template <class From, class To>
typename To::Storage cast_element(typename From::Compute value) {
    using Stored = typename To::Storage;
    if constexpr (To::type == ElementType::boolean) {
        return value != 0;
    } else if constexpr (std::is_floating_point_v<typename From::Compute> && std::is_integral_v<typename To::Compute>) {
        if (std::isnan(value)) return 0;
        if (value <= static_cast<double>(std::numeric_limits<Stored>::lowest()))
            return std::numeric_limits<Stored>::lowest();
        if (value >= static_cast<double>(std::numeric_limits<Stored>::max())) return std::numeric_limits<Stored>::max();
        return static_cast<Stored>(value);
    } else {
        return To::store(static_cast<typename To::Compute>(value));
    }
}

void cast_wide(const Tensor& x, Tensor& y) {
    visit_element(x.type(), [&]<class From>(From) {
        visit_element(y.type(), [&]<class To>(To) {
            const auto* from = stored<typename From::Storage>(x);
            auto* to = stored<typename To::Storage>(y);
            for (int64_t i = 0; i < x.elements(); ++i) to[i] = cast_element<From, To>(From::load(from[i]));
        });
    });
}

// The same numbers in a type that arithmetic knows: narrow integers lie in memory as 8-bit ones, and every narrow
// floating-point number is an f32. A view where it can be.
Tensor cast_widened(const Tensor& x) {
    if (is_narrow_integer(x.type())) {
        const bool is_signed = x.type() == ElementType::i4 || x.type() == ElementType::i2;
        return Tensor(is_signed ? ElementType::i8 : ElementType::u8, x.shape(), x.bytes(), nullptr);
    }
    if (!is_narrow_float(x.type())) return x;
    Tensor wide(ElementType::f32, x.shape());
    for (int64_t i = 0; i < x.elements(); ++i) wide.set(i, x.at(i));
    return wide;
}

// To 2 and 4 bits floating point wraps as integers do: what ONNX's cases ask for where its text leaves it open.
void cast_reference(const ReferenceContext& context) {
    const Tensor x = cast_widened(context.in(0));
    Tensor& y = context.out(0);
    if (is_narrow_float(y.type())) {
        const NarrowRounding rounding = cast_rounding(context.attributes);
        auto* to = stored<uint8_t>(y);
        for (int64_t i = 0; i < x.elements(); ++i) to[i] = double_to_narrow(y.type(), x.at(i), rounding);
    } else if (is_narrow_integer(y.type())) {
        Tensor whole(ElementType::i64, x.shape());
        cast_wide(x, whole);
        const std::span<const int64_t> from = whole.data<int64_t>();
        auto* to = stored<uint8_t>(y);
        for (int64_t i = 0; i < x.elements(); ++i)
            to[i] = narrow_byte(y.type(), static_cast<uint8_t>(from[static_cast<size_t>(i)]));
    } else {
        cast_wide(x, y);
    }
}

Datum cast_datum(const InterpretContext& context, ElementType target) {
    if (const auto* numbers = std::get_if<Tensor>(&context.datum(0))) {
        HEADWAY_CHECK(target == ElementType::string);  // all else has a reference
        return number_texts(*numbers);
    }
    const Strings& texts = context.strings(0);
    if (target == ElementType::string) return texts;
    if (!fixed_size_types.contains(target))
        throw Unsupported("cannot cast strings to element type " + std::string(to_string(target)));
    return parsed_numbers(texts, target);
}

// Of the second input, which gives nothing but its type.
ElementType cast_like_target(const InterpretContext& context) {
    if (std::holds_alternative<Strings>(context.datum(1))) return ElementType::string;
    return context.tensor(1).type();
}

const AttributeDoc cast_saturate_doc{
    "saturate", "int", "1", "to 8-bit floats: 1 makes what is out of range the largest value, 0 infinity or NaN"};
const AttributeDoc cast_round_mode_doc{"round_mode", "string", "up", "to f8e8m0: up, down or nearest (opset 24)"};

}  // namespace

const Op cast_op{{
    .name = "Cast",
    .since = {1, 6, 9, 13, 19, 21, 23, 24, 25},
    .types = any_types,
    .attributes = {{"to", "int", "", "number of the new element type (its name before opset 6)"},
                   cast_saturate_doc,
                   cast_round_mode_doc},
    .infer =
        [](InferContext& context) {
            context.set_output(0, cast_target(context.attributes(), context.version()), context.shape(0));
        },
    .reference = cast_reference,
    .interpret =
        [](const InterpretContext& context) {
            return std::vector<Datum>{cast_datum(context, cast_target(context.attributes(), context.node.version))};
        },
    .help = "Changes the element type. Floating point to integer truncates and saturates, NaN becomes 0; integers "
            "wrap, and so does everything that becomes an integer of 2 or 4 bits. Strings to and from numbers, "
            "printed as by NumPy, are only interpreted.",
}};

const Op cast_like_op{{
    .name = "CastLike",
    .since = {15, 19, 21, 23, 24, 25},
    .inputs = {2, 2},
    .types = any_types,
    .attributes = {cast_saturate_doc, cast_round_mode_doc},
    .infer = [](InferContext& context) { context.set_output(0, context.type(1), context.shape(0)); },
    .reference = cast_reference,
    .interpret =
        [](const InterpretContext& context) {
            return std::vector<Datum>{cast_datum(context, cast_like_target(context))};
        },
    .help = "Changes the element type to that of the second input, as Cast does.",
}};

}  // namespace headway
