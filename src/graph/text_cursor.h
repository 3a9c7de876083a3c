// A reading position in graph text: skips blanks and comments, reads words, names, numbers and quoted strings, and
// reports errors with line and column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway {

// [A-Za-z0-9_./:-]: what a name may hold without quotes.
bool is_name_character(char c);
// A string that needs no quotes as a name: legal characters only, not empty, no ':' at the end.
bool is_bare_name(std::string_view text);
// `"..."`, with everything but printable characters as \xNN.
std::string quoted(std::string_view text);

class TextCursor {
public:
    explicit TextCursor(std::string_view text) : text_(text) {}

    [[noreturn]] void fail(const std::string& message) const { fail_at(position_, message); }
    [[noreturn]] void fail_at(size_t position, const std::string& message) const;
    size_t position();  // of the next token

    bool at_end();
    char peek();  // the next character that is no blank, '\0' at the end
    bool accept(char c);
    void expect(char c);
    bool accept_word(std::string_view word);  // a whole word only
    std::string_view peek_word();
    std::string_view word(const char* what);  // a run of name characters
    std::string name(const char* what);       // a bare name or a quoted string
    std::string quoted_string();
    // A run of number characters: digits, sign, '.', exponent, or inf / nan.
    std::string_view number();

private:
    void skip_blanks();
    std::string_view text_;
    size_t position_ = 0;
};

}  // namespace headway
