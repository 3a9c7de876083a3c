#include "ops/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "ops/element.h"
#include "ops/types.h"

namespace headway {
namespace {

// "-1.25e-07" in the form of NumPy: digits, and an exponent only where the number is very small or large.
std::string laid_out(std::string_view scientific) {
    const size_t mark = scientific.find('e');
    int exponent = 0;
    const std::string_view power = scientific.substr(mark + (scientific[mark + 1] == '+' ? 2 : 1));
    std::from_chars(power.data(), power.data() + power.size(), exponent);
    std::string digits(scientific.substr(0, mark));
    const bool is_negative = digits[0] == '-';
    std::erase_if(digits, [](char c) { return c == '-' || c == '.'; });
    std::string text;
    const auto count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        text = digits.substr(0, 1);
        if (count > 1) text += "." + digits.substr(1);
        const std::string size = std::to_string(std::abs(exponent));
        text += std::string(exponent < 0 ? "e-" : "e+") + (size.size() < 2 ? "0" : "") + size;
    } else if (exponent < 0) {
        text = "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    } else {
        if (count <= exponent + 1) digits.append(static_cast<size_t>(exponent + 2 - count), '0');
        text = digits.insert(static_cast<size_t>(exponent + 1), ".");
    }
    return is_negative ? "-" + text : text;
}

template <class T>
std::string scientific_text(T value) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr};
}

// The fewest digits with which `value` rounds to itself in a type of 16 bits or fewer.
std::string narrow_text(double value, ElementType type) {
    char text[64];
    Tensor one(type, Shape{});
    for (int digits = 0;; ++digits) {
        const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits).ptr;
        double back = 0;
        std::from_chars(text, end, back);
        one.set(0, back);
        if (one.at(0) == value) return {text, end};
    }
}

std::string real_number_text(const Tensor& numbers, int64_t index) {
    const double value = numbers.at(index);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (numbers.type() == ElementType::f64) return laid_out(scientific_text(value));
    if (numbers.type() == ElementType::f32) return laid_out(scientific_text(static_cast<float>(value)));
    return laid_out(narrow_text(value, numbers.type()));
}

std::string element_text(const Tensor& numbers, int64_t index) {
    const ElementType type = numbers.type();
    if (is_float(type)) return real_number_text(numbers, index);
    if (type == ElementType::boolean) return numbers.at(index) != 0 ? "True" : "False";
    if (type == ElementType::u64) return std::to_string(numbers.data<uint64_t>()[static_cast<size_t>(index)]);
    if (type == ElementType::i64) return std::to_string(numbers.data<int64_t>()[static_cast<size_t>(index)]);
    return std::to_string(static_cast<int64_t>(numbers.at(index)));
}

template <class T>
bool reads_whole(std::string_view text, T& value) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// A number beyond the type's range reads as infinity or zero, as in NumPy.
template <class T>
bool reads_real(std::string_view text, T& value) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) return false;
    if (result.ec == std::errc::result_out_of_range)
        value = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
    return true;
}

bool is_word(std::string_view text, std::string_view word) {
    return std::ranges::equal(text, word,
                              [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

template <class E>
bool store_parsed(std::string_view text, typename E::Storage& slot) {
    if constexpr (E::type == ElementType::f32 || E::type == ElementType::f64) {
        return reads_real(text, slot);
    } else if constexpr (std::is_floating_point_v<typename E::Compute>) {
        double value = 0;
        if (!reads_real(text, value)) return false;
        slot = E::store(value);
        return true;
    } else {
        typename E::Compute whole = 0;
        if (reads_whole(text, whole)) {
            slot = E::store(whole);
            return true;
        }
        const bool is_true = E::type == ElementType::boolean && is_word(text, "true");
        if (is_true || (E::type == ElementType::boolean && is_word(text, "false"))) {
            slot = E::store(is_true ? 1 : 0);
            return true;
        }
        double value = 0;
        if (!reads_real(text, value) || !(std::fabs(value) < 0x1p63)) return false;
        if (E::type == ElementType::boolean) value = value != 0 ? 1 : 0;
        slot = E::store(static_cast<typename E::Compute>(static_cast<int64_t>(value)));
        return true;
    }
}

}  // namespace

Strings number_texts(const Tensor& numbers) {
    StringsWriter texts(numbers.shape());
    for (int64_t i = 0, count = numbers.elements(); i < count; ++i) texts.add(element_text(numbers, i));
    return std::move(texts).finish();
}

Tensor parsed_numbers(const Strings& texts, ElementType type) {
    Tensor numbers(type, texts.shape);
    visit_element(type, [&]<class E>(E) {
        auto* to = stored<typename E::Storage>(numbers);
        for (const std::string& whole : texts.values) {
            std::string_view text = trimmed(whole);
            if (text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
            if (!store_parsed<E>(text, *to++))
                throw UserError("\"" + escaped(whole) + "\" is no number of type " + std::string(to_string(type)));
        }
    });
    return numbers;
}

}  // namespace headway
