#include <algorithm>
#include <clocale>
#include <cwctype>
#include <unordered_set>

#include <locale.h>

#include "ops/op.h"

namespace headway {
namespace {

enum class CaseChange { none, lower, upper };

CaseChange case_change(const Attributes& attributes) {
    const std::string action = attributes.text("case_change_action", "NONE");
    if (action == "NONE") return CaseChange::none;
    if (action == "LOWER") return CaseChange::lower;
    if (action == "UPPER") return CaseChange::upper;
    throw UserError("attribute case_change_action is none of NONE, LOWER and UPPER");
}

// Unicode's case pairs of single characters, which glibc's C.UTF-8 holds, so that results do not depend on what locales
// a machine has.
class CaseTable {
public:
    CaseTable() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
        if (locale_ == nullptr) throw UserError("this machine lacks the locale C.UTF-8");
    }
    ~CaseTable() { freelocale(locale_); }
    CaseTable(const CaseTable&) = delete;
    CaseTable& operator=(const CaseTable&) = delete;

    char32_t changed(char32_t code, CaseChange change) const {
        const auto wide = static_cast<wint_t>(code);
        return static_cast<char32_t>(change == CaseChange::lower ? towlower_l(wide, locale_)
                                                                 : towupper_l(wide, locale_));
    }

private:
    locale_t locale_;
};

struct Utf8Character {
    char32_t code = 0;
    size_t bytes = 0;  // 0: no character stands here
};

// The character at the begin of the text; over-long forms and surrogates are none.
Utf8Character read_utf8(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) return {first, 1};
    const size_t bytes = first >= 0xF0 && first < 0xF8   ? 4
                         : first >= 0xE0 && first < 0xF0 ? 3
                         : first >= 0xC0 && first < 0xE0 ? 2
                                                         : 0;
    if (bytes == 0 || text.size() < bytes) return {};
    char32_t code = first & (0x7FU >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xC0U) != 0x80) return {};
        code = code << 6 | (byte & 0x3FU);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
    return {code, bytes};
}

void append_utf8(std::string& text, char32_t code) {
    const auto put = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
}

// Bytes that are no UTF-8 stay as they are.
std::string case_changed(const std::string& text, CaseChange change, const CaseTable& table) {
    if (change == CaseChange::none) return text;
    std::string result;
    for (std::string_view rest = text; !rest.empty();) {
        const Utf8Character character = read_utf8(rest);
        if (character.bytes == 0)
            result += rest[0];
        else
            append_utf8(result, table.changed(character.code, change));
        rest.remove_prefix(std::max<size_t>(character.bytes, 1));
    }
    return result;
}

std::vector<Datum> interpret_string_normalizer(const InterpretContext& context) {
    const Strings& x = context.strings(0);
    const size_t rank = x.shape.rank();
    if (rank != 1 && !(rank == 2 && x.shape[0] == 1))
        throw UserError("an input of " + x.shape.text() + " is neither a list nor one row");
    const CaseChange change = case_change(context.attributes());
    const bool is_sensitive = context.attributes().integer("is_case_sensitive", 0) != 0;
    const CaseTable table;
    const auto key = [&](const std::string& text) {
        return is_sensitive ? text : case_changed(text, CaseChange::lower, table);
    };
    std::unordered_set<std::string> stop_words;
    for (const std::string& word : context.attributes().texts("stopwords")) stop_words.insert(key(word));
    std::vector<std::string> kept;
    for (const std::string& text : x.values)
        if (stop_words.empty() || !stop_words.contains(key(text))) kept.push_back(case_changed(text, change, table));
    if (kept.empty()) kept.emplace_back();
    const auto count = static_cast<int64_t>(kept.size());
    return {Strings{rank == 1 ? Shape{count} : Shape{1, count}, std::move(kept)}};
}

}  // namespace

const Op string_normalizer_op{{
    .name = "StringNormalizer",
    .since = {10},
    .types = string_type,
    .attributes = {{"case_change_action", "string", "NONE", "NONE, LOWER or UPPER"},
                   {"is_case_sensitive", "int", "0", "1: stop words are compared as they are written"},
                   {"locale", "string", "", "not read: the case pairs of Unicode hold everywhere"},
                   {"stopwords", "strings", "", "strings that are left out"}},
    .interpret = interpret_string_normalizer,
    .help = "The strings of a list that are no stop words, in another case; one empty string where none is left. "
            "Interpreted only.",
}};

}  // namespace headway
