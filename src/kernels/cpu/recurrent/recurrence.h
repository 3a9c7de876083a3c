// The recurrence itself: one step of one block of hidden units, from sums that begin with the input's share.
#pragma once

#include "kernels/cpu/recurrent/recurrent_weights.h"

namespace headway {

class Recurrence {
public:
    struct Rows {
        int64_t first;
        int count;
    };
    struct Place {
        int64_t step, direction, block;
        int part;
    };

    struct Options {
        RecurrentWeights format;
        RecurrentExp exp;
        int64_t most_rows;  // of the batch that are worked on together, at most recurrent_rows
        int packed_blocks;  // which of the packed blobs holds the weights
        int packed_states;  // the first that is an initial state
    };

    Recurrence(const Problem& problem, const RecurrentBlocks& blocks, const RecurrentOps& ops, const Options& options);

    const RecurrentProblem& problem() const { return problem_; }
    int64_t state_bytes() const;  // at the beginning of the workspace

    // The rows of the batch in nearly equal groups that are worked on together.
    int64_t groups() const;
    Rows group(int64_t index) const;

    // sums: [rows][recurrent_sums], whole blocks. Adds the product with the hidden values and, with the sums complete,
    // hands the states on and writes the outputs.
    void advance(const Args& args, const Place& place, const Rows& rows, float* sums) const;
    // What a sequence without steps leaves: the initial states.
    void keep_initial(const Args& args) const;

private:
    struct State {
        int src = -1, packed = -1;
        const float* of(const Args& args) const {
            if (src >= 0) return reinterpret_cast<const float*>(args.src[src]);
            return packed >= 0 ? reinterpret_cast<const float*>(args.packed[packed]) : nullptr;
        }
    };
    // Values of a row of the batch every `stride` floats; nullptr for zeros.
    struct Values {
        const float* first = nullptr;
        int64_t stride = 0;
    };

    int64_t state_floats() const { return problem_.directions * problem_.batch * problem_.padded_hidden(); }
    float* state(const Args& args, int64_t array, int64_t direction) const;
    Values before(const Args& args, int64_t step, int64_t array, size_t initial, int64_t direction) const;
    void advance_row(const Args& args, const Place& place, int64_t row, const float* sums) const;

    RecurrentProblem problem_;
    RecurrentBlocks blocks_;
    const RecurrentOps& ops_;
    const RecurrentCells& cells_;
    Options options_;
    State states_[2];
    bool wanted_[3] = {};
};

}  // namespace headway
