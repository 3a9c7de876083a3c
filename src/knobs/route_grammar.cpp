#include "knobs/route_grammar.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace headway::route_grammar {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_separator(char c) { return c == ',' || c == '\n'; }

bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-:*?#").find(c) != std::string_view::npos;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::vector<Item> run() {
        std::vector<Item> items;
        while (skip_to_item()) items.push_back(item());
        return items;
    }

private:
    bool more() const { return at_ < text_.size(); }
    char next() const { return text_[at_]; }

    void skip_spaces() {
        while (more() && is_space(next())) ++at_;
    }
    void skip_comment() {
        while (more() && next() != '\n') ++at_;
    }
    bool skip_to_item() {
        while (more()) {
            if (next() == '#')
                skip_comment();
            else if (is_space(next()) || is_separator(next()))
                ++at_;
            else
                return true;
        }
        return false;
    }

    std::string until(std::string_view stops) {
        const size_t begin = at_;
        while (more() && stops.find(next()) == std::string_view::npos) ++at_;
        return std::string(trimmed(text_.substr(begin, at_ - begin)));
    }

    [[noreturn]] void fail(size_t begin, const std::string& problem) {
        const std::string_view line = text_.substr(begin, text_.find('\n', begin) - begin);
        throw UserError("route setting \"" + escaped(trimmed(line)) + "\": " + problem);
    }

    Item item() {
        const size_t begin = at_;
        Item item;
        item.knob = until("@=,#\n");
        if (item.knob.empty()) fail(begin, "no knob name; write knob=value");
        if (more() && next() == '@') {
            ++at_;
            skip_spaces();
            // a comment cannot stand between `@` and `=`, so that the names Op#k need no quotes
            item.site = more() && next() == '"' ? quoted(begin) : until("=,\n\"");
            if (item.site.empty()) fail(begin, "no site behind @; write knob@site=value");
            skip_spaces();
        }
        if (!more() || next() != '=') fail(begin, "no value; write " + item.text() + "value");
        ++at_;
        item.value = until(",#\n");
        if (item.value.empty()) fail(begin, "no value; write " + item.text() + "value");
        return item;
    }

    std::string quoted(size_t begin) {
        std::string name;
        for (++at_; more() && next() != '"'; ++at_) {
            if (next() != '\\') {
                name += next();
            } else if (at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\')) {
                name += text_[++at_];
            } else if (at_ + 3 < text_.size() && text_[at_ + 1] == 'x' && hex_digit(text_[at_ + 2]) >= 0 &&
                       hex_digit(text_[at_ + 3]) >= 0) {
                name += static_cast<char>(hex_digit(text_[at_ + 2]) * 16 + hex_digit(text_[at_ + 3]));
                at_ += 3;
            } else {
                fail(begin, "unknown escape in a quoted site; use \\\", \\\\ or \\xNN");
            }
        }
        if (!more()) fail(begin, "the quoted site has no closing quote");
        ++at_;
        return name;
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

std::string Item::text() const {
    std::string text = escaped(knob);
    if (!site.empty()) text += "@" + quoted_site(site);
    return text + "=" + escaped(value);
}

std::vector<Item> parse(std::string_view text) { return Parser(text).run(); }

std::string quoted_site(std::string_view site) {
    bool bare = true;
    for (const char c : site) bare = bare && is_bare(c);
    if (bare) return std::string(site);
    std::string text = "\"";
    for (size_t begin = 0; begin <= site.size();) {
        const size_t end = std::min(site.find_first_of("\"\\", begin), site.size());
        text += escaped(site.substr(begin, end - begin));
        if (end < site.size()) text.append({'\\', site[end]});
        begin = end + 1;
    }
    return text + "\"";
}

const KnobBase& find_knob(const Item& item, const Registry<KnobBase>& knobs) {
    if (const KnobBase* knob = knobs.find(item.knob)) return *knob;
    const std::string near = nearest_name(item.knob, knobs.names());
    throw UserError("unknown knob \"" + escaped(item.knob) + "\"" +
                    (near.empty() ? "; `headway knobs` lists them" : "; did you mean \"" + near + "\"?"));
}

void check(const KnobBase& knob, std::string_view value, std::string_view site) {
    if (knob.index_of(value) < 0) {
        const std::string near = nearest_name(value, knob.values());
        throw UserError("knob " + std::string(knob.name()) + " has no value \"" + escaped(value) + "\"" +
                        (near.empty() ? "" : " (did you mean \"" + near + "\"?)") + "; it takes " +
                        join(knob.values(), ", "));
    }
    if (!site.empty() && knob.scope() == Scope::graph)
        throw UserError("knob " + std::string(knob.name()) +
                        " is one setting for the whole graph and takes no site (@" + quoted_site(site) + ")");
}

}  // namespace headway::route_grammar
