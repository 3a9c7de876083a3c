// A fully known shape: non-negative extents, outermost first. Symbolic extents live in the graph (graph/graph.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace headway {

class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
    explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

    size_t rank() const { return dims_.size(); }
    int64_t operator[](size_t axis) const { return dims_[axis]; }
    int64_t& operator[](size_t axis) { return dims_[axis]; }
    const std::vector<int64_t>& dims() const { return dims_; }
    auto begin() const { return dims_.begin(); }
    auto end() const { return dims_.end(); }
    int64_t back() const { return dims_.back(); }

    // Product of the extents (1 for rank 0). UserError when those that are not zero pass 64 bits: strides do, too.
    int64_t elements() const;
    // Product of dims [begin, end).
    int64_t elements(size_t begin, size_t end) const;
    // Row-major strides in elements.
    std::vector<int64_t> strides() const;
    std::string text() const;  // "1x3x224x224", "scalar"

    bool operator==(const Shape&) const = default;

private:
    std::vector<int64_t> dims_;
};

// ONNX multidirectional broadcasting. UserError when the shapes do not fit.
Shape broadcast(const Shape& a, const Shape& b);
// Axis in [-rank, rank) made non-negative. UserError otherwise.
int64_t normalized_axis(int64_t axis, size_t rank);

}  // namespace headway
