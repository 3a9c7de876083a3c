// The numbers of MatMul and Gemm read from a problem: a list of m x k by k x n products over strided operands.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace headway {

struct ProductGeometry {
    // One product of the batch: offsets in elements into src[0] and dst, and which matrix of src[1].
    struct Item {
        int64_t a, c, b_index;
    };
    std::vector<Item> items;
    int64_t m = 0, n = 0, k = 0;
    int64_t a_row_step = 0, a_k_step = 0;  // elements
    int64_t b_k_step = 0, b_n_step = 0;
    int64_t b_count = 1;        // matrices in src[1], k * n elements each
    float alpha = 1, beta = 1;  // Gemm's
    bool constant_a = false, constant_b = false;
    // What is added: nothing, one value for each column (known at build time), or a tensor broadcast to dst.
    enum class Addend { none, columns, tensor };
    Addend addend = Addend::none;
    bool constant_addend = false;

    int64_t rows() const { return m * static_cast<int64_t>(items.size()); }
};

// Fills `geometry`, or says why the problem is no such product.
Verdict read_product(const Problem& problem, ProductGeometry& geometry);
// After a positive verdict.
ProductGeometry product_geometry(const Problem& problem);
// The problem with Gemm's addend, when it is a tensor, as operand 0 of its epilogue.
Problem with_addend_in_epilogue(const Problem& problem, const ProductGeometry& geometry);

}  // namespace headway
