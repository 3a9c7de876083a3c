// Samples joined into batches, for calls that carry several.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/samples.h"

namespace headway {

// As many batches as samples: number k holds samples k, k+1, .. k+batch-1 (again from the first where they end), joined
// along the first axis. Tensors without axes must be the same in all and stay. UserError naming the sample whose shapes
// do not fit.
std::vector<Sample> batch_samples(std::span<const Sample> samples, int64_t batch);
// The first batch of samples as they are on disk, inputs only.
RawSample batch_first(std::span<const RawSample> samples, int64_t batch);

}  // namespace headway
