// A block's rows of A as tiles that compute in bf16 read them: rounded once into scratch, each row contiguous, so that
// windows with scattered taps become plain rows on the way.
#pragma once

#include <cstddef>

#include "kernels/cpu/gemm/block.h"

namespace headway {

// Scratch for `rows` rows of k values.
int64_t rounded_bytes(int64_t rows, int64_t k);

// `a` holds f32; the result counts words of two bfloat16 and lives in `scratch` (64-byte aligned).
RowPointers round_rows(const GemmMicro& micro, const RowPointers& a, int64_t rows, std::byte* scratch);

}  // namespace headway
