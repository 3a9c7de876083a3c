// The statistics of paired visit values. Values are log ratios ln(T_ref/T_e), one per visit: positive is faster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headway {

// Need at least one value.
double mean(std::span<const double> values);
double median(std::span<const double> values);
// Linear between order statistics; q in 0..1.
double quantile(std::span<const double> values, double q);
// With n-1 in the denominator; 0 for a single value.
double standard_deviation(std::span<const double> values);
double standard_error(std::span<const double> values);
// Correlation of each value with the next one; 0 when there is no spread.
double lag1_correlation(std::span<const double> values);

enum class Tail { greater, both };

// Sign-flip test of "the values are symmetric about `margin`": the share of sign patterns whose sum is at least as far
// out as the observed one. All 2^R patterns up to 14 values, else 9999 random ones and the observed one, which
// keeps the level exact.
double sign_flip_p(std::span<const double> values, Tail tail, double margin = 0, uint64_t seed = 1);
// The smallest p that this many values can give.
double smallest_sign_flip_p(int values);

struct Interval {
    double center = 0;
    double low = 0;
    double high = 0;
};
// The quantile of Student's distribution; p in (0, 1), degrees of freedom at least 1.
double student_quantile(double p, double degrees_of_freedom);
// Student's interval of the mean; needs at least two values.
Interval t_interval(std::span<const double> values, double confidence = 0.95);
// t_interval of log ratios, as speed-ups.
Interval speedup_interval(std::span<const double> values, double confidence = 0.95);

// The gain over the margin that a one-sided test of this level finds with 80 % power from `visits` values.
double resolution(double standard_deviation, int visits, double level);

}  // namespace headway
