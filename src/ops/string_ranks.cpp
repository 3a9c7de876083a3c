#include "ops/string_ranks.h"

#include <algorithm>

namespace headway {

StringRanks::StringRanks(std::span<const Datum* const> inputs) : sorted_{""} {
    for (const Datum* input : inputs)
        if (const auto* strings = input == nullptr ? nullptr : std::get_if<Strings>(input))
            sorted_.insert(sorted_.end(), strings->values.begin(), strings->values.end());
    std::ranges::sort(sorted_);
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

Tensor StringRanks::ranks(const Strings& strings) const {
    Tensor ranks(type, strings.shape);
    auto to = ranks.mutable_data<double>().begin();
    for (const std::string_view value : strings.values)
        *to++ = static_cast<double>(std::ranges::lower_bound(sorted_, value) - sorted_.begin());
    return ranks;
}

Strings StringRanks::strings(const Tensor& ranks) const {
    StringsWriter strings(ranks.shape());
    for (const double rank : ranks.data<double>()) strings.add(sorted_.at(static_cast<size_t>(rank)));
    return std::move(strings).finish();
}

}  // namespace headway
