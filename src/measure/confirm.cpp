#include "measure/confirm.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "measure/statistics.h"

namespace headway {
namespace {

double finalist_level(const ConfirmRules& rules, int finalist) {
    return rules.alpha * rules.weights.at(static_cast<size_t>(finalist));
}

}  // namespace

std::vector<Look> fitting_looks(const ConfirmRules& rules, int finalist, int affordable) {
    const double level = finalist_level(rules, finalist);
    std::vector<Look> fitting;
    double left_over = 0;
    for (const Look& look : rules.looks) {
        if (look.visits <= affordable && smallest_sign_flip_p(look.visits) <= level * look.share)
            fitting.push_back(look);
        else
            left_over += look.share;
    }
    if (!fitting.empty()) fitting.back().share += left_over;
    return fitting;
}

Confirm::Confirm(ConfirmRules rules, int finalists, int affordable, uint64_t seed)
    : rules_(std::move(rules)),
      finalists_(std::min(finalists, static_cast<int>(rules_.weights.size()))),
      affordable_(affordable),
      seed_(seed),
      values_(static_cast<size_t>(std::max(finalists_, 0))) {
    const double weights = std::accumulate(rules_.weights.begin(), rules_.weights.end(), 0.0);
    const double shares = std::accumulate(rules_.looks.begin(), rules_.looks.end(), 0.0,
                                          [](double total, const Look& look) { return total + look.share; });
    HEADWAY_CHECK(weights <= 1 + 1e-9 && shares <= 1 + 1e-9);
    outcome_.why = finalists_ > 0 ? Why::resolution : Why::no_contender;
    start_finalist();
}

std::optional<int> Confirm::next() const {
    if (over_) return std::nullopt;
    return current_;
}

void Confirm::record(double log_speedup) {
    HEADWAY_CHECK(!over_);
    std::vector<double>& values = values_[static_cast<size_t>(current_)];
    values.push_back(log_speedup);
    affordable_ = std::max(affordable_ - 1, 0);
    if (static_cast<int>(values.size()) == looks_[look_].visits) look();
}

void Confirm::look() {
    const std::vector<double>& values = values_[static_cast<size_t>(current_)];
    const auto visits = static_cast<int>(values.size());
    const double level = finalist_level(rules_, current_) * looks_[look_].share;
    const double found = resolution(standard_deviation(values), visits, level);
    outcome_.p = sign_flip_p(values, Tail::greater, rules_.margin, seed_ + static_cast<uint64_t>(current_));
    outcome_.level = level;
    outcome_.resolution = outcome_.resolution > 0 ? std::min(outcome_.resolution, found) : found;
    const bool last = look_ + 1 == looks_.size();
    if (outcome_.p <= level) {
        outcome_.finding = Finding::faster;
        outcome_.why = Why::none;
        outcome_.finalist = current_;
        over_ = true;
    } else if (last) {
        cut_short_ = cut_short_ || looks_.back().visits < rules_.looks.back().visits;
        next_finalist();
    } else if (mean(values) < rules_.margin) {
        next_finalist();
    } else {
        ++look_;
    }
}

void Confirm::withdraw() {
    HEADWAY_CHECK(current_ < finalists_);
    outcome_.finding = Finding::no_gain;
    outcome_.finalist = -1;
    outcome_.why = Why::resolution;
    over_ = false;
    next_finalist();
}

void Confirm::stop() {
    if (over_) return;
    cut_short_ = true;
    over_ = true;
    outcome_.why = Why::budget;
}

void Confirm::next_finalist() {
    ++current_;
    start_finalist();
}

void Confirm::start_finalist() {
    if (current_ < finalists_) {
        looks_ = fitting_looks(rules_, current_, affordable_);
        look_ = 0;
        if (!looks_.empty()) return;
        // the levels of later finalists are no larger, so they need no fewer visits
        cut_short_ = true;
    }
    over_ = true;
    if (finalists_ > 0) outcome_.why = cut_short_ ? Why::budget : Why::resolution;
}

}  // namespace headway
