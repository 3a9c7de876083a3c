#include "closeness.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "support/promise.h"
#include "tensor/compare.h"

namespace headway::conformance {
namespace {

using Found = std::optional<std::string>;
using CompareTensors = std::function<Found(const Tensor& got, const Tensor& want)>;

Found form_of_tensor(const Tensor& got, const Tensor& want) {
    if (got.type() != want.type())
        return "has type " + std::string(to_string(got.type())) + " instead of " + std::string(to_string(want.type()));
    if (got.shape() != want.shape()) return "has shape " + got.shape().text() + " instead of " + want.shape().text();
    return std::nullopt;
}

Found compare_strings(const Strings& got, const Strings& want) {
    if (got.shape != want.shape) return "has shape " + got.shape.text() + " instead of " + want.shape.text();
    const auto [at, wanted] = std::ranges::mismatch(got.values, want.values);
    if (at == got.values.end()) return std::nullopt;
    return "holds \"" + escaped(*at) + "\" instead of \"" + escaped(*wanted) + "\"";
}

Found compare_data(const Datum& got, const Datum& want, const CompareTensors& values) {
    if (got.index() != want.index())
        return "is " + std::string(kind_of(got)) + " instead of " + std::string(kind_of(want));
    if (const auto* tensor = std::get_if<Tensor>(&got)) {
        const Found form = form_of_tensor(*tensor, std::get<Tensor>(want));
        return form ? form : values(*tensor, std::get<Tensor>(want));
    }
    if (const auto* strings = std::get_if<Strings>(&got)) return compare_strings(*strings, std::get<Strings>(want));
    if (!std::holds_alternative<Sequence>(got)) return std::nullopt;
    const std::vector<TensorValues>& tensors = std::get<Sequence>(got).tensors;
    const std::vector<TensorValues>& wanted = std::get<Sequence>(want).tensors;
    if (tensors.size() != wanted.size())
        return "holds " + std::to_string(tensors.size()) + " tensors instead of " + std::to_string(wanted.size());
    for (size_t i = 0; i < tensors.size(); ++i)
        if (const Found found = compare_data(datum_of(tensors[i]), datum_of(wanted[i]), values))
            return "tensor " + std::to_string(i) + " " + *found;
    return std::nullopt;
}

Found compare_all(std::span<const Datum> got, std::span<const Datum> want, const CompareTensors& values) {
    if (got.size() != want.size())
        return "there are " + std::to_string(got.size()) + " outputs instead of " + std::to_string(want.size());
    for (size_t i = 0; i < want.size(); ++i)
        if (const Found found = compare_data(got[i], want[i], values))
            return "output " + std::to_string(i) + " " + *found;
    return std::nullopt;
}

std::string mismatch(const Difference& found) {
    return "differs in " + std::to_string(found.mismatches) + " of " + std::to_string(found.elements) +
           " elements, by up to " + std::to_string(found.max_abs);
}

Difference within(const Tensor& got, const Tensor& want, const CaseTolerance& tolerance) {
    const bool half = is_float(got.type()) && size_of(got.type()) == 2;
    double largest = 0;
    for (int64_t i = 0; tolerance.of_largest > 0 && i < want.elements(); ++i)
        if (const double size = std::abs(want.at(i)); std::isfinite(size)) largest = std::max(largest, size);
    return compare_tensors(got, want, half ? tolerance.half_rtol : tolerance.rtol,
                           (half ? tolerance.half_atol : tolerance.atol) + tolerance.of_largest * largest);
}

}  // namespace

Found difference(std::span<const Datum> got, std::span<const Datum> want, const CaseTolerance& tolerance) {
    return compare_all(got, want, [&](const Tensor& a, const Tensor& b) -> Found {
        const Difference found = within(a, b, tolerance);
        if (found.mismatches == 0) return std::nullopt;
        return mismatch(found);
    });
}

Found reordered_difference(std::span<const Datum> got, std::span<const Datum> want, const CaseTolerance& tolerance,
                           Numerics numerics) {
    if (numerics == Numerics::exact) return bit_difference(got, want);
    return compare_all(got, want, [&](const Tensor& a, const Tensor& b) -> Found {
        if (numerics == Numerics::reduced && !is_float(a.type())) return std::nullopt;
        const Difference found = within(a, b, tolerance);
        if (found.mismatches == 0 ||
            (found.special == 0 && found.max_rel <= testing::allowed(numerics) * std::sqrt(tolerance.products)))
            return std::nullopt;
        return mismatch(found);
    });
}

Found form_difference(std::span<const Datum> got, std::span<const Datum> want) {
    return compare_all(got, want, [](const Tensor&, const Tensor&) -> Found { return std::nullopt; });
}

Found bit_difference(std::span<const Datum> got, std::span<const Datum> want) {
    return compare_all(got, want, [](const Tensor& a, const Tensor& b) -> Found {
        if (a.hash() == b.hash()) return std::nullopt;
        const Difference found = compare_tensors(a, b, 0, 0);
        return found.mismatches == 0 ? "differs in the sign of zeros or the payload of NaNs" : mismatch(found);
    });
}

}  // namespace headway::conformance
