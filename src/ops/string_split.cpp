#include <algorithm>
#include <limits>

#include "ops/op.h"

namespace headway {
namespace {

using Pieces = std::vector<std::string_view>;

// As Python's str.split without a separator, on ASCII white space: runs of it separate, ends give no empty strings.
// After `most` splits the rest stays whole, but for white space at its end.
Pieces split_at_blanks(std::string_view text, size_t most) {
    constexpr std::string_view blanks = " \t\n\v\f\r";
    Pieces pieces;
    for (size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
        if (pieces.size() == most) {
            pieces.push_back(text.substr(begin, text.find_last_not_of(blanks) + 1 - begin));
            break;
        }
        const size_t end = std::min(text.find_first_of(blanks, begin), text.size());
        pieces.push_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(blanks, end);
    }
    return pieces;
}

Pieces split_at(std::string_view text, std::string_view delimiter, size_t most) {
    Pieces pieces;
    while (pieces.size() < most) {
        const size_t end = text.find(delimiter);
        if (end == std::string_view::npos) break;
        pieces.push_back(text.substr(0, end));
        text.remove_prefix(end + delimiter.size());
    }
    pieces.push_back(text);
    return pieces;
}

// Absent and negative maxsplit: any number of splits.
size_t most_splits(const Attributes& attributes) {
    const int64_t given = attributes.integer("maxsplit", -1);
    return given < 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(given);
}

std::vector<Datum> interpret_string_split(const InterpretContext& context) {
    const Strings& x = context.strings(0);
    const std::string delimiter = context.attributes().text("delimiter", "");
    const size_t most = most_splits(context.attributes());
    std::vector<Pieces> rows;
    size_t longest = 0;
    Tensor counts(ElementType::i64, x.shape);
    for (const std::string& text : x.values) {
        rows.push_back(delimiter.empty() ? split_at_blanks(text, most) : split_at(text, delimiter, most));
        const size_t count = rows.back().size();
        counts.mutable_data<int64_t>()[rows.size() - 1] = static_cast<int64_t>(count);
        longest = std::max(longest, count);
    }
    std::vector<int64_t> dims = x.shape.dims();
    dims.push_back(static_cast<int64_t>(longest));
    StringsWriter pieces{Shape(std::move(dims))};
    for (const Pieces& row : rows)
        for (size_t i = 0; i < longest; ++i) pieces.add(i < row.size() ? row[i] : std::string_view{});
    return {std::move(pieces).finish(), std::move(counts)};
}

}  // namespace

const Op string_split_op{{
    .name = "StringSplit",
    .since = {20},
    .outputs = {2, 2},
    .types = string_type,
    .attributes = {{"delimiter", "string", "", "what separates; empty or absent: runs of white space"},
                   {"maxsplit", "int", "any number", "most splits of one string"}},
    .interpret = interpret_string_split,
    .help = "The pieces of each string along a new last axis, with empty strings after the shorter rows, and their "
            "numbers. Interpreted only.",
}};

}  // namespace headway
