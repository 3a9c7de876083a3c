// A registry of declarations (operators, passes, kernels, knobs). Declarations are named constants with static storage
// that announce themselves at start-up; main collects them once into a sorted Registry and passes it as an argument.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace headway {

template <class T>
class Registry {
public:
    // Sorted by name; a duplicate name is our bug and ends the program at start.
    explicit Registry(std::vector<const T*> entries) : entries_(std::move(entries)) {
        std::sort(entries_.begin(), entries_.end(), [](const T* a, const T* b) { return name_of(a) < name_of(b); });
        for (size_t i = 1; i < entries_.size(); ++i)
            if (name_of(entries_[i - 1]) == name_of(entries_[i]))
                throw InternalError("declared twice: " + std::string(name_of(entries_[i])));
    }
    Registry() = default;

    const T* find(std::string_view name) const {
        const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                         [](const T* a, std::string_view b) { return name_of(a) < b; });
        return at != entries_.end() && name_of(*at) == name ? *at : nullptr;
    }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    size_t size() const { return entries_.size(); }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const T* entry : entries_) names.emplace_back(name_of(entry));
        return names;
    }

private:
    static std::string_view name_of(const T* entry) { return entry->name(); }
    std::vector<const T*> entries_;
};

// The list that declarations of kind T join; only Announce and `declared` touch it.
template <class T>
std::vector<const T*>& announced() {
    static std::vector<const T*> list;
    return list;
}

// All linked declarations of kind T, sorted.
template <class T>
Registry<T> declared() {
    return Registry<T>(announced<T>());
}

}  // namespace headway
