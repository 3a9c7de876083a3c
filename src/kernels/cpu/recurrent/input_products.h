// The input's share of the sums of many steps as one matrix product: x times W of each direction, in chunks of steps so
// that the sums stay small however long the sequence is.
#pragma once

#include <vector>

#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/recurrent/recurrent_problem.h"

namespace headway {

class InputProducts {
public:
    // Steps [first, first + count) of each direction, in the order in which it walks.
    struct Chunk {
        int64_t first, count;
    };

    InputProducts(const RecurrentProblem& problem, RecurrentWeights format, const GemmMicro& micro,
                  const Target& target, const Choices& choices);

    const std::vector<Chunk>& chunks() const { return chunks_; }
    int64_t sums_bytes() const;  // of one chunk
    int64_t scratch_bytes() const;
    int64_t tiles(const Chunk& chunk) const;
    void run(const float* x, const std::byte* weights, const float* init, const Chunk& chunk, int64_t tile,
             std::byte* scratch, float* sums) const;
    // The sums of a block for a row of the batch, gates() slots; those of the next row follow row_step() floats later.
    const float* of(const float* sums, const Chunk& chunk, int64_t direction, int64_t step, int64_t row,
                    int64_t block) const;
    int64_t row_step() const { return problem_.columns(); }

    // The matrices of all directions.
    static Tensor pack(const RecurrentProblem& problem, RecurrentWeights format, const GemmMicro& micro,
                       const Tensor& w);

    // Knobs that it reads.
    static std::vector<const KnobBase*> knobs();
    // Rows of a chunk, and how often the weights of all directions are read.
    static int64_t rows(const RecurrentProblem& problem, const Choices& choices);

private:
    int64_t first_time(const Chunk& chunk, int64_t direction) const;
    int64_t direction_floats() const { return most_steps_ * problem_.batch * problem_.columns(); }

    RecurrentProblem problem_;
    WeightFormat format_;
    const GemmMicro& micro_;
    Panels panels_;
    std::vector<Chunk> chunks_;
    int64_t most_steps_;  // of a chunk
    Blocking blocking_;
    std::vector<ColumnBlock> column_blocks_;
};

}  // namespace headway
