#include "lower/nesting.h"

#include <algorithm>

#include "base/error.h"

namespace headway {

void Nesting::put(int32_t inner, int32_t outer, int64_t at) {
    HEADWAY_CHECK(inner != outer && !is_inside(inner));
    outer_[inner] = {outer, at};
    wholes_.insert(outer);
}

Nesting::Spot Nesting::spot(int32_t buffer) const {
    Spot spot{buffer, 0};
    for (auto next = outer_.find(buffer); next != outer_.end(); next = outer_.find(spot.whole))
        spot = {next->second.whole, spot.at + next->second.at};
    return spot;
}

std::vector<int32_t> Nesting::members() const {
    std::set<int32_t> members = wholes_;
    for (const auto& [inner, spot] : outer_) members.insert(inner);
    return {members.begin(), members.end()};
}

}  // namespace headway
