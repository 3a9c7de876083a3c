#include <re2/re2.h>

#include <algorithm>

#include "base/text.h"
#include "ops/op.h"

namespace headway {
namespace {

// RE2 matches in time linear in the text, whatever the pattern, and bounds the memory of a compiled pattern.
std::vector<Datum> interpret_regex_full_match(const InterpretContext& context) {
    const Strings& x = context.strings(0);
    if (!context.attributes().has("pattern")) throw UserError("has no pattern");
    const std::string pattern = context.attributes().text("pattern", "");
    const RE2 expression(pattern, RE2::Quiet);
    if (!expression.ok())
        throw UserError("pattern \"" + escaped(pattern) + "\" is no RE2 expression: " + escaped(expression.error()));
    Tensor matches(ElementType::boolean, x.shape);
    std::ranges::transform(x.values, matches.mutable_data<bool>().begin(),
                           [&](const std::string& text) { return RE2::FullMatch(text, expression); });
    return {std::move(matches)};
}

}  // namespace

const Op regex_full_match_op{{
    .name = "RegexFullMatch",
    .since = {20},
    .types = string_type,
    .attributes = {{"pattern", "string", "", "a regular expression in RE2 syntax"}},
    .interpret = interpret_regex_full_match,
    .help = "Whether the whole of each string matches a regular expression. Interpreted only.",
}};

}  // namespace headway
