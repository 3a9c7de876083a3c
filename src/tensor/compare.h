// How far one tensor is from another. Accumulates in double; NaN and infinities are compared by position, and do not
// enter the other numbers.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace headway {

struct Difference {
    int64_t elements = 0;
    double max_abs = 0;      // largest |got - want|
    double max_rel = 0;      // largest |got - want| / max(|want|, rms of want): errors of elements near zero are held
                             // against the tensor's own scale
    double rel_l2 = 0;       // |got - want|_2 / max(|want|_2, a rms of 1e-6)
    double cosine = 1;       // of the angle between the two; 1 when both are zero, 0 when one is
    int64_t mismatches = 0;  // elements outside atol + rtol * |want|, misplaced NaN and infinities included
    int64_t special = 0;     // elements where one is NaN or infinite and the other is not the same
    int64_t worst = -1;      // index of an element with the largest error, or of the first misplaced special; -1: equal

    // The worse of the two in every number, counts added: over samples.
    void merge(const Difference& other);
};

// Types and shapes must be equal: UserError. Integers are compared exactly in `mismatches` when both tolerances are 0.
Difference compare_tensors(const Tensor& got, const Tensor& want, double rtol, double atol);

}  // namespace headway
