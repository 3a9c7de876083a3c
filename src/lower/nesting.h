// Which buffers of a plan lie inside others: the parts of a Concat in its result, the pieces of a Split or Slice in
// their source.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace headway {

class Nesting {
public:
    struct Spot {
        int32_t whole;  // the outermost buffer, itself when it lies in no other
        int64_t at;     // bytes from its beginning
    };

    // `inner`, so far in no buffer, lies in `outer` from byte `at` on.
    void put(int32_t inner, int32_t outer, int64_t at);
    bool is_inside(int32_t buffer) const { return outer_.contains(buffer); }
    // Whether it shares its bytes, as a part or as a whole.
    bool shares(int32_t buffer) const { return is_inside(buffer) || wholes_.contains(buffer); }
    Spot spot(int32_t buffer) const;
    // All that share bytes.
    std::vector<int32_t> members() const;

private:
    std::map<int32_t, Spot> outer_;  // the next buffer outwards
    std::set<int32_t> wholes_;
};

}  // namespace headway
