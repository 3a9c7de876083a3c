// What the makers of random nodes share: a graph that grows, the values to read from, and choices from one seed.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "graph/graph.h"
#include "ops/op.h"

namespace headway::testing {

using NamedAttributes = std::initializer_list<std::pair<const char*, AttributeValue>>;

class Maker {
public:
    // `special`: inputs may hold NaN and infinities, so nothing is added that sums over several elements.
    Maker(uint64_t seed, bool special, const Registry<Op>& ops) : rng(seed), special_(special), ops_(ops) {}

    // Largest result; bigger ones are not offered as inputs any more, which keeps one trial in milliseconds.
    static constexpr int64_t most_elements = 6000;

    Graph graph;
    Rng rng;

    bool special() const { return special_; }
    const Registry<Op>& ops() const { return ops_; }

    Shape shape(ValueId id) const { return graph.value(id).shape(); }
    ElementType type(ValueId id) const { return graph.value(id).type; }
    bool is_f32(ValueId id) const { return type(id) == ElementType::f32; }
    // Whether every correct engine computes the value to the bit: what jumps (rounding, comparing) may only read these.
    bool is_exact(ValueId id) const { return exact_[static_cast<size_t>(id)]; }

    ValueId input(ElementType type, const Shape& shape);
    ValueId constant(Tensor tensor);
    ValueId floats(const Shape& shape, double deviation = 1);
    ValueId positive(const Shape& shape);  // 0.5 to 1.5
    ValueId scalar(float value) { return constant(Tensor::scalar(value)); }
    ValueId integers(const std::vector<int64_t>& values);

    // A value to read that fits, later ones more often; nothing when there is none.
    std::optional<ValueId> pick(const std::function<bool(ValueId)>& fits);
    std::optional<ValueId> pick_f32(size_t least_rank = 0, size_t most_rank = 6);
    // All values that may be read, in order of birth.
    const std::vector<ValueId>& pool() const { return pool_; }

    // Adds a node whose outputs are inferred and joined to the pool; `absent` names outputs that are left out.
    std::vector<ValueId> add(std::string_view op, std::vector<ValueId> inputs, NamedAttributes attributes = {},
                             size_t outputs = 1, const std::vector<size_t>& absent = {}, int version = 17);
    // Outputs that have a shape already are taken as they are.
    std::vector<ValueId> add(Node node);
    // A node with one f32 output whose shape follows from values that are only known once the graph is bound.
    ValueId add_stated(std::string_view op, std::vector<ValueId> inputs, const Shape& shape,
                       NamedAttributes attributes = {});
    // The first output of such a node.
    ValueId one(std::string_view op, std::vector<ValueId> inputs, NamedAttributes attributes = {}, int version = 17) {
        return add(op, std::move(inputs), attributes, 1, {}, version).front();
    }

    int64_t between(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(rng.below(static_cast<uint64_t>(high - low + 1)));
    }
    template <class T>
    const T& any_of(const std::vector<T>& list) {
        return list[static_cast<size_t>(rng.below(list.size()))];
    }
    std::string_view any_word(std::initializer_list<std::string_view> words) {
        return words.begin()[static_cast<size_t>(rng.below(words.size()))];
    }
    int64_t extent();         // odd ones, and now and then zero
    int64_t channel_count();  // 1, 3, 17, 24 and friends
    Shape random_shape(size_t rank);
    // A shape that broadcasts into `shape` without enlarging it.
    Shape broadcast_part(const Shape& shape);

private:
    bool special_;
    const Registry<Op>& ops_;
    std::vector<ValueId> pool_;
    std::vector<bool> exact_;
    int64_t names_ = 0;
};

// Each adds one or a few nodes, or nothing when no value fits.
void make_unary(Maker& maker);
void make_binary(Maker& maker);
void make_choice(Maker& maker);  // comparisons, Where, logic
void make_integer(Maker& maker);
void make_cast(Maker& maker);

void make_convolution(Maker& maker);
void make_transposed_convolution(Maker& maker);
void make_product(Maker& maker);  // MatMul, Gemm, Einsum
void make_pool(Maker& maker);
void make_normalization(Maker& maker);
void make_softmax(Maker& maker);
void make_reduction(Maker& maker);
void make_recurrent(Maker& maker);

void make_concat(Maker& maker);
void make_split(Maker& maker);
void make_slice(Maker& maker);
void make_pad(Maker& maker);
void make_transpose(Maker& maker);
void make_reshape(Maker& maker);
void make_gather(Maker& maker);
void make_repeat(Maker& maker);  // Expand, Tile
void make_resize(Maker& maker);
void make_blocks(Maker& maker);  // DepthToSpace, SpaceToDepth
void make_order(Maker& maker);   // TopK, ArgMax, CumSum, Trilu, ScatterElements

void make_quantized_pair(Maker& maker);
void make_quantized_convolution(Maker& maker);
void make_integer_convolution(Maker& maker);
void make_quantized_product(Maker& maker);

void make_spelled(Maker& maker);         // layer norm, GELU, hard swish and others in their parts
void make_residual(Maker& maker);        // a convolution, its normalisation, activation and a skip
void make_attention(Maker& maker);       // three products of one value, softmax between
void make_identity(Maker& maker);        // nodes that do nothing
void make_duplicate(Maker& maker);       // an existing node once more
void make_constant_chain(Maker& maker);  // nodes on constants only
void make_branch(Maker& maker);          // If with a known condition, captured values
void make_shape_chain(Maker& maker);     // Shape, Gather, Concat, Reshape

}  // namespace headway::testing
