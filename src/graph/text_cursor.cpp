#include "graph/text_cursor.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

bool is_name_character(char c) {
    return is_letter_or_digit(c) || c == '_' || c == '.' || c == '/' || c == ':' || c == '-';
}

bool is_bare_name(std::string_view text) {
    return !text.empty() && text.back() != ':' && std::ranges::all_of(text, is_name_character);
}

std::string quoted(std::string_view text) { return '"' + escaped(text) + '"'; }

void TextCursor::fail_at(size_t position, const std::string& message) const {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    const auto line = std::ranges::count(before, '\n') + 1;
    const size_t start = before.rfind('\n');
    const size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw UserError("graph text " + std::to_string(line) + ":" + std::to_string(column) + ": " + message);
}

void TextCursor::skip_blanks() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c == '#')
            position_ = std::min(text_.find('\n', position_), text_.size());
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            ++position_;
        else
            return;
    }
}

size_t TextCursor::position() {
    skip_blanks();
    return position_;
}

bool TextCursor::at_end() { return position() == text_.size(); }

char TextCursor::peek() { return at_end() ? '\0' : text_[position_]; }

bool TextCursor::accept(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
}

void TextCursor::expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
}

std::string_view TextCursor::peek_word() {
    skip_blanks();
    size_t end = position_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    // "%x: f32": the colon that ends a name belongs to the grammar
    while (end > position_ && text_[end - 1] == ':') --end;
    return text_.substr(position_, end - position_);
}

bool TextCursor::accept_word(std::string_view word) {
    if (peek_word() != word) return false;
    position_ += word.size();
    return true;
}

std::string_view TextCursor::word(const char* what) {
    const std::string_view found = peek_word();
    if (found.empty()) fail(std::string("expected ") + what);
    position_ += found.size();
    return found;
}

std::string TextCursor::name(const char* what) { return peek() == '"' ? quoted_string() : std::string(word(what)); }

std::string TextCursor::quoted_string() {
    const size_t start = position();
    expect('"');
    std::string text;
    while (true) {
        if (position_ >= text_.size() || text_[position_] == '\n') fail_at(start, "string without an end");
        const char c = text_[position_++];
        if (c == '"') return text;
        if (c != '\\') {
            text += c;
            continue;
        }
        unsigned code = 0;
        const char* digits = text_.data() + position_ + 1;
        if (position_ + 3 > text_.size() || text_[position_] != 'x' ||
            std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2)
            fail("expected \\xNN");
        text += static_cast<char>(code);
        position_ += 3;
    }
}

std::string_view TextCursor::number() {
    skip_blanks();
    size_t end = position_;
    while (end < text_.size() &&
           (is_letter_or_digit(text_[end]) || text_[end] == '.' || text_[end] == '-' || text_[end] == '+'))
        ++end;
    if (end == position_) fail("expected a number");
    const std::string_view found = text_.substr(position_, end - position_);
    position_ = end;
    return found;
}

}  // namespace headway
