// The shape of a reduction as it lies in memory: which physical dimensions stay and which go.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/reduce/reduce_ops.h"
#include "kernels/kernel.h"

namespace headway {

struct ReducePlan {
    struct Dim {
        int64_t extent = 1, stride = 0;
    };
    ReduceKind kind = ReduceKind::sum;
    std::vector<Dim> kept;     // all but the innermost run, outermost first
    std::vector<Dim> reduced;  // all but the innermost, outermost first
    Dim rows;                  // the innermost reduced dimension, when the run is kept
    int64_t run = 1;           // consecutive floats: kept columns, or reduced
    bool run_is_kept = false;
    int64_t outputs = 1;  // kept elements, run included where it is kept
    double scale = 1;     // of the reduced value
    bool square_root = false;

    int64_t kept_rows() const;
    int64_t reduced_rows() const;

    // The results lie in the order of the dst; Verdict::no where they would not.
    static Verdict make(const Problem& problem, ReducePlan& plan);
};

}  // namespace headway
