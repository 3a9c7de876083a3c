#include "measure/statistics.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"

namespace headway {
namespace {

constexpr int most_exact_values = 14;
constexpr int random_flips = 9999;
constexpr double power = 0.8;

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Sums of values under sign patterns, a byte of signs at a time: bit i of the signs turns value i. Equal patterns give
// equal sums to the last bit.
class FlippedSums {
public:
    explicit FlippedSums(std::span<const double> values) : table_((values.size() + 7) / 8) {
        for (size_t chunk = 0; chunk < table_.size(); ++chunk)
            for (unsigned signs = 0; signs < 256; ++signs)
                for (size_t bit = 0; bit < 8 && chunk * 8 + bit < values.size(); ++bit) {
                    const double value = values[chunk * 8 + bit];
                    table_[chunk][signs] += (signs >> bit & 1) != 0 ? -value : value;
                }
    }

    template <class NextSigns>
    double total(NextSigns next_64_signs) const {
        double total = 0;
        uint64_t signs = 0;
        for (size_t chunk = 0; chunk < table_.size(); ++chunk, signs >>= 8) {
            if (chunk % 8 == 0) signs = next_64_signs();
            total += table_[chunk][signs & 0xFF];
        }
        return total;
    }

private:
    std::vector<std::array<double, 256>> table_;
};

}  // namespace

double mean(std::span<const double> values) {
    HEADWAY_CHECK(!values.empty());
    return sum(values) / static_cast<double>(values.size());
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile(std::span<const double> values, double q) {
    HEADWAY_CHECK(!values.empty() && q >= 0 && q <= 1);
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double standard_deviation(std::span<const double> values) {
    if (values.size() < 2) return 0;
    const double center = mean(values);
    double squares = 0;
    for (const double value : values) squares += (value - center) * (value - center);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double standard_error(std::span<const double> values) {
    HEADWAY_CHECK(!values.empty());
    return standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

double lag1_correlation(std::span<const double> values) {
    if (values.size() < 2) return 0;
    const double center = mean(values);
    double products = 0, squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        squares += (values[i] - center) * (values[i] - center);
        if (i > 0) products += (values[i] - center) * (values[i - 1] - center);
    }
    return squares > 0 ? products / squares : 0;
}

double sign_flip_p(std::span<const double> values, Tail tail, double margin, uint64_t seed) {
    if (values.empty()) return 1;
    std::vector<double> shifted(values.begin(), values.end());
    double scale = 0;
    for (double& value : shifted) {
        value -= margin;
        scale += std::fabs(value);
    }
    const auto extreme = [&](double total) { return tail == Tail::both ? std::fabs(total) : total; };
    // patterns that tie with the observed one count, whatever the rounding of their sums
    const double observed = extreme(sum(shifted)) - 1e-12 * scale;
    const FlippedSums sums(shifted);
    const auto size = static_cast<int>(values.size());
    if (size <= most_exact_values) {
        const uint64_t patterns = uint64_t{1} << size;
        uint64_t reached = 0;
        for (uint64_t signs = 0; signs < patterns; ++signs)
            reached += extreme(sums.total([&] { return signs; })) >= observed;
        return static_cast<double>(reached) / static_cast<double>(patterns);
    }
    Rng rng(seed);
    int reached = 1;
    for (int i = 0; i < random_flips; ++i) reached += extreme(sums.total([&] { return rng.next(); })) >= observed;
    return static_cast<double>(reached) / (random_flips + 1);
}

double smallest_sign_flip_p(int values) {
    return values <= most_exact_values ? std::ldexp(1.0, -values) : 1.0 / (random_flips + 1);
}

double student_quantile(double p, double degrees_of_freedom) {
    HEADWAY_CHECK(p > 0 && p < 1 && degrees_of_freedom >= 1);
    return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

Interval t_interval(std::span<const double> values, double confidence) {
    HEADWAY_CHECK(values.size() >= 2 && confidence > 0 && confidence < 1);
    const double half =
        student_quantile(0.5 + confidence / 2, static_cast<double>(values.size() - 1)) * standard_error(values);
    const double center = mean(values);
    return {center, center - half, center + half};
}

Interval speedup_interval(std::span<const double> values, double confidence) {
    const Interval logs = t_interval(values, confidence);
    return {std::exp(logs.center), std::exp(logs.low), std::exp(logs.high)};
}

double resolution(double standard_deviation, int visits, double level) {
    HEADWAY_CHECK(visits > 0 && level > 0 && level < 1);
    const boost::math::normal normal;
    const double factor = boost::math::quantile(normal, 1 - level) + boost::math::quantile(normal, power);
    return factor * standard_deviation / std::sqrt(static_cast<double>(visits));
}

}  // namespace headway
