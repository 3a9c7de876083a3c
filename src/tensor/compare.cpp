#include "tensor/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace headway {
namespace {

// A reference of zeros has no scale of its own: errors are then held against this rms.
constexpr double least_rms = 1e-6;

// Element access without a type switch for what is large in practice.
class Reader {
public:
    explicit Reader(const Tensor& tensor)
        : tensor_(tensor), floats_(tensor.type() == ElementType::f32 ? tensor.data<float>().data() : nullptr) {}
    double operator[](int64_t index) const {
        return floats_ != nullptr ? static_cast<double>(floats_[index]) : tensor_.at(index);
    }

private:
    const Tensor& tensor_;
    const float* floats_;
};

double rms_of(const Reader& values, int64_t count) {
    double squares = 0;
    for (int64_t i = 0; i < count; ++i)
        if (std::isfinite(values[i])) squares += values[i] * values[i];
    return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

bool same_special(double got, double want) { return (std::isnan(got) && std::isnan(want)) || got == want; }

// 64-bit integers beyond 2^53 may differ and still be equal as doubles.
bool differs_as_integer(const Tensor& got, const Tensor& want, int64_t index) {
    if (got.type() != ElementType::i64 && got.type() != ElementType::u64) return false;
    const auto at = static_cast<size_t>(index);
    return !std::ranges::equal(got.bytes().subspan(at * 8, 8), want.bytes().subspan(at * 8, 8));
}

}  // namespace

void Difference::merge(const Difference& other) {
    if (other.max_abs > max_abs || other.special > special) worst = other.worst;
    elements += other.elements;
    max_abs = std::max(max_abs, other.max_abs);
    max_rel = std::max(max_rel, other.max_rel);
    rel_l2 = std::max(rel_l2, other.rel_l2);
    cosine = std::min(cosine, other.cosine);
    mismatches += other.mismatches;
    special += other.special;
}

Difference compare_tensors(const Tensor& got, const Tensor& want, double rtol, double atol) {
    if (got.type() != want.type() || got.shape() != want.shape())
        throw UserError("a tensor of type " + std::string(to_string(got.type())) + " and shape " + got.shape().text() +
                        " cannot be compared with one of type " + std::string(to_string(want.type())) + " and shape " +
                        want.shape().text());
    Difference result;
    result.elements = got.elements();
    const Reader g(got), w(want);
    const double rms = std::max(rms_of(w, result.elements), least_rms);
    double difference_squares = 0, got_squares = 0, want_squares = 0, products = 0;
    for (int64_t i = 0; i < result.elements; ++i) {
        const double x = g[i], y = w[i];
        if (!std::isfinite(x) || !std::isfinite(y)) {
            if (same_special(x, y)) continue;
            if (result.special == 0) result.worst = i;
            ++result.special;
            ++result.mismatches;
            continue;
        }
        const double error = std::fabs(x - y);
        if (error > result.max_abs) {
            result.max_abs = error;
            if (result.special == 0) result.worst = i;
        }
        result.max_rel = std::max(result.max_rel, error / std::max(std::fabs(y), rms));
        if (error > atol + rtol * std::fabs(y) || (rtol == 0 && atol == 0 && differs_as_integer(got, want, i)))
            ++result.mismatches;
        difference_squares += error * error;
        got_squares += x * x;
        want_squares += y * y;
        products += x * y;
    }
    const double least_square = least_rms * least_rms * static_cast<double>(result.elements);
    if (difference_squares > 0) result.rel_l2 = std::sqrt(difference_squares / std::max(want_squares, least_square));
    if (difference_squares > 0)
        result.cosine = got_squares > 0 && want_squares > 0
                            ? std::min(1.0, products / (std::sqrt(got_squares) * std::sqrt(want_squares)))
                            : 0;
    // values near the end of the double range overflow as squares
    if (!std::isfinite(result.rel_l2)) result.rel_l2 = std::numeric_limits<double>::max();
    if (!std::isfinite(result.cosine)) result.cosine = 0;
    return result;
}

}  // namespace headway
