// The weights of a recurrent problem in packed form: for each block of hidden units and each of its parts, rows of W
// (if the step multiplies the input itself) and rows of R, every row the weights of the part's slots.
#pragma once

#include <vector>

#include "kernels/cpu/recurrent/recurrent_problem.h"

namespace headway {

class RecurrentBlocks {
public:
    // `input_rows`: rows of W in a block, all of them or none.
    RecurrentBlocks(const RecurrentProblem& problem, RecurrentWeights format, int64_t input_rows);

    int64_t input_rows() const { return input_rows_; }
    // Where a part of a block begins, and where its rows of R do, in bytes.
    int64_t inputs_at(int64_t direction, int64_t block, int part) const;
    int64_t hidden_at(int64_t direction, int64_t block, int part) const;

    Tensor pack(const Tensor& w, const Tensor& r) const;

private:
    int64_t row_bytes(int part) const;

    RecurrentProblem problem_;
    RecurrentWeights format_;
    int64_t input_rows_;
    int64_t part_rows_;  // of W and R together
};

// f32[directions][blocks][gates][16], what the input's products begin with: the biases of W, and those of R where both
// are only added. For gru_linear, the candidate's biases of R follow: f32[directions][blocks][16].
Tensor pack_recurrent_biases(const RecurrentProblem& problem, const Tensor* biases);

// W of a direction as a row-major matrix of a row for each column of the input's products (blocks, gates, units), zeros
// for units that do not exist.
std::vector<float> input_weights(const RecurrentProblem& problem, const Tensor& w, int64_t direction);

}  // namespace headway
