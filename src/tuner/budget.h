// The time that a session may take, all of it: builds, gates, visits, waiting. Part of it is kept back for the claim.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

namespace headway {

// The wall clock of sessions, in seconds from some start.
inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of sessions without a budget of their own, whose every step has its deadline.
inline constexpr double no_limit_s = 1e6;

class Budget {
public:
    // `clock` gives seconds; it starts now. `stop` is the user's Ctrl-C and may be null.
    Budget(double seconds, std::function<double()> clock, const std::atomic<bool>* stop)
        : seconds_(seconds), clock_(std::move(clock)), begin_(clock_()), stop_(stop) {}

    double seconds() const { return seconds_; }
    double spent() const { return clock_() - begin_; }
    // The user's Ctrl-C ends the budget.
    double left() const { return stopped() ? 0 : left_by_clock(); }
    double left_by_clock() const { return std::max(0.0, seconds_ - spent()); }
    bool stopped() const { return stop_ != nullptr && stop_->load(); }

    // Kept back from the search, at most half of the whole.
    void reserve(double seconds) { reserve_ = std::min(seconds, seconds_ / 2); }
    double left_for_search() const { return std::max(0.0, left() - reserve_); }

private:
    double seconds_;
    std::function<double()> clock_;
    double begin_;
    const std::atomic<bool>* stop_;
    double reserve_ = 0;
};

}  // namespace headway
