#include "search/phase.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headway {
namespace {

// Per proposal: a point that should give a known engine is still built now and then, for what is inert here may not be
// inert there.
constexpr double doubt = 0.03;

// Where gains were found most often: choice of kernel and layout first, switched-off rewrites last. Formats before all:
// they have few values, and where the tolerance allows a narrower one it is the largest single gain.
constexpr std::array<std::pair<std::string_view, double>, 7> family_promise{{{"format", 1.1},
                                                                             {"kernel", 1.0},
                                                                             {"layout", 0.85},
                                                                             {"fusion", 0.7},
                                                                             {"thread", 0.6},
                                                                             {"memory", 0.4},
                                                                             {"rewrite", 0.3}}};
constexpr double unknown_family_promise = 0.5;
// Numbers are listed from the likeliest on; words, such as algorithms, are alternatives of nearly equal standing.
constexpr double promise_of_the_next_number = 0.85;
constexpr double promise_of_the_next_word = 0.97;
// Of a single site beside a whole graph: most sites are a small share of the time.
constexpr double promise_of_a_site = 0.3;

bool is_number(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

double promise(const Space& space, size_t axis, int value) {
    const auto at = std::find_if(family_promise.begin(), family_promise.end(),
                                 [&](const auto& family) { return family.first == space.family(axis); });
    double promise = at == family_promise.end() ? unknown_family_promise : at->second;
    const int start = space.start()[axis];
    const int rank = value < start ? value : value - 1;
    const RouteSet::Axis& entry = space.axis(axis);
    const double next =
        is_number(entry.values[static_cast<size_t>(value)]) ? promise_of_the_next_number : promise_of_the_next_word;
    for (int i = 0; i < rank; ++i) promise *= next;
    return entry.values[static_cast<size_t>(start)] == unset ? promise * promise_of_a_site : promise;
}

Batch::Batch(const Lessons& lessons, const Ask& ask, uint64_t seed)
    : lessons_(lessons),
      rng_(seed * 0x9E3779B97F4A7C15u + lessons.trials()),
      most_(static_cast<size_t>(std::max(0, std::min(ask.batch, ask.affordable)))),
      affordable_(ask.affordable),
      may_repeat_(rng_.chance(doubt * static_cast<double>(most_))) {}

bool Batch::add(const Point& point, std::string_view origin) {
    if (full() || lessons_.tried(point) || proposed_.contains(hash_of(point))) return false;
    const Hash alike = hash_of(lessons_.simplified(point));
    const bool known = lessons_.tried_alike(point) || proposed_alike_.contains(alike);
    if (known && !std::exchange(may_repeat_, false)) return false;
    proposed_.insert(hash_of(point));
    proposed_alike_.insert(alike);
    proposals_.push_back({space().route(point), std::string(origin)});
    return true;
}

}  // namespace headway
