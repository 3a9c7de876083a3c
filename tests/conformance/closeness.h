// Whether one result is another one, within a case's tolerance.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "case.h"
#include "knobs/knob.h"
#include "tensor/datum.h"

namespace headway::conformance {

// What is different, beginning with "output k", or nothing.
std::optional<std::string> difference(std::span<const Datum> got, std::span<const Datum> want,
                                      const CaseTolerance& tolerance);
// The same for results that are random: kinds, types and shapes only.
std::optional<std::string> form_difference(std::span<const Datum> got, std::span<const Datum> want);
// The same for two ways to compute one thing, of which one may change the numbers so much: no bit when `exact`.
// Otherwise the case's tolerance must hold, or every element be as near as the knobs promise for one product, times the
// root of the number of products, held against the larger of itself and the rms of its tensor: sums that nearly cancel
// have no relative precision of their own. Of `reduced` formats only floating point is compared; rounding may move an
// integer anywhere.
std::optional<std::string> reordered_difference(std::span<const Datum> got, std::span<const Datum> want,
                                                const CaseTolerance& tolerance, Numerics numerics);
// The same where no bit may differ.
std::optional<std::string> bit_difference(std::span<const Datum> got, std::span<const Datum> want);

}  // namespace headway::conformance
