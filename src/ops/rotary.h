// Rotary position embedding: pairs of elements of each head turned by the angle of their position.
#pragma once

#include <functional>
#include <vector>

#include "ops/op.h"

namespace headway {

// x is batch x heads x length x size, or batch x length x (heads * size); the first `rotated` of `size` are turned.
struct RotaryForm {
    int64_t batch = 0, heads = 0, length = 0, size = 0, rotated = 0;
    bool packed = false;

    int64_t offset(int64_t image, int64_t head, int64_t row) const {
        return (packed ? (image * length + row) * heads + head : (image * heads + head) * length + row) * size;
    }
};

// By attributes num_heads (of rank 3) and rotary_embedding_dim; UserError when they do not fit x.
RotaryForm rotary_form(const Attributes& attributes, const Shape& x);

// Cosines and sines: entries x (rotated / 2).
class RotaryTables {
public:
    // interleaved: neighbours make a pair, else elements of the two halves.
    RotaryTables(const Tensor& cosines, const Tensor& sines, bool interleaved);
    // position(image, row) is the entry of the tables for a row; UserError when there is none.
    void turn(std::vector<double>& x, const RotaryForm& form,
              const std::function<int64_t(int64_t image, int64_t row)>& position) const;

private:
    std::vector<double> cosines_, sines_;
    int64_t pairs_;
    bool interleaved_;
};

}  // namespace headway
