#include "kernels/cpu/gemm/product.h"

#include <algorithm>

#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

bool present(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }
bool constant(const Problem& problem, size_t i) { return i < problem.constant.size() && problem.constant[i]; }

Verdict check_operands(const Problem& problem) {
    if (!present(problem, 0) || !present(problem, 1) || problem.dst.empty())
        return Verdict::no(Reason::shape, "a product needs two operands");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!present(problem, i)) continue;
        if (problem.src[i]->type != ElementType::f32)
            return Verdict::no(Reason::element_type, "input " + std::to_string(i) + " is " +
                                                         std::string(to_string(problem.src[i]->type)) + " (needs f32)");
        if (problem.src[i]->layout != Layout::plain) return Verdict::no(Reason::layout, "operands must be plain");
    }
    if (problem.dst[0].layout != Layout::plain) return Verdict::no(Reason::layout, "the output must be plain");
    const size_t rank_a = problem.src[0]->shape.rank(), rank_b = problem.src[1]->shape.rank();
    if (rank_a < 1 || rank_b < 2)
        return Verdict::no(Reason::shape, "ranks " + std::to_string(rank_a) + " and " + std::to_string(rank_b) +
                                              " (needs a matrix on the right)");
    return Verdict::yes();
}

// Offsets of each batch element of an operand broadcast over the batch dims of dst.
std::vector<int64_t> batch_offsets(const Shape& operand, size_t matrix_rank, const std::vector<int64_t>& batch) {
    const size_t own = operand.rank() - matrix_rank;
    std::vector<int64_t> steps(batch.size(), 0);
    int64_t step = operand.elements(own, operand.rank());
    for (size_t i = 0; i < own; ++i) {
        const size_t axis = own - 1 - i;
        if (operand[axis] != 1) steps[batch.size() - 1 - i] = step;
        step *= operand[axis];
    }
    std::vector<int64_t> offsets{0};
    for (size_t axis = 0; axis < batch.size(); ++axis) {
        std::vector<int64_t> grown;
        for (int64_t offset : offsets)
            for (int64_t i = 0; i < batch[axis]; ++i) grown.push_back(offset + i * steps[axis]);
        offsets = std::move(grown);
    }
    return offsets;
}

void read_matmul(const Problem& problem, ProductGeometry& g) {
    const Shape& a = problem.src[0]->shape;
    const Shape& b = problem.src[1]->shape;
    const Shape& c = problem.dst[0].shape;
    const size_t a_rank = std::min<size_t>(a.rank(), 2);
    g.m = a_rank == 2 ? a[a.rank() - 2] : 1;
    g.k = a.back(), g.n = b.back();
    g.a_row_step = g.k, g.a_k_step = 1;
    g.b_k_step = g.n, g.b_n_step = 1;
    const int64_t matrix = g.k * g.n;
    g.b_count = b.elements(0, b.rank() - 2);
    const std::vector<int64_t> batch(c.begin(), c.end() - static_cast<int64_t>(a_rank));
    const std::vector<int64_t> a_offsets = batch_offsets(a, a_rank, batch), b_offsets = batch_offsets(b, 2, batch);
    const bool dense = g.b_count == 1 && a.elements() == static_cast<int64_t>(a_offsets.size()) * g.m * g.k;
    if (dense && !a_offsets.empty()) {  // one matrix on the right: the batch is only more rows
        g.m *= static_cast<int64_t>(a_offsets.size());
        g.items.push_back({0, 0, 0});
        return;
    }
    for (size_t i = 0; i < a_offsets.size(); ++i)
        g.items.push_back({a_offsets[i], static_cast<int64_t>(i) * g.m * g.n, matrix == 0 ? 0 : b_offsets[i] / matrix});
}

void read_gemm(const Problem& problem, ProductGeometry& g) {
    const Shape& a = problem.src[0]->shape;
    const Shape& b = problem.src[1]->shape;
    const bool turn_a = problem.attributes.integer("transA", 0) != 0,
               turn_b = problem.attributes.integer("transB", 0) != 0;
    g.m = a[turn_a ? 1 : 0], g.k = a[turn_a ? 0 : 1], g.n = b[turn_b ? 0 : 1];
    g.a_row_step = turn_a ? 1 : g.k, g.a_k_step = turn_a ? g.m : 1;
    g.b_k_step = turn_b ? 1 : g.n, g.b_n_step = turn_b ? g.k : 1;
    g.alpha = problem.attributes.real("alpha", 1.0F);
    g.beta = problem.attributes.real("beta", 1.0F);
    g.items.push_back({0, 0, 0});
    if (!present(problem, 2) || g.beta == 0) return;
    const Shape& c = problem.src[2]->shape;
    g.constant_addend = constant(problem, 2);
    const bool one_row = c.rank() == 0 || c.elements(0, c.rank() - 1) == 1;
    g.addend = one_row && g.constant_addend ? ProductGeometry::Addend::columns : ProductGeometry::Addend::tensor;
}

}  // namespace

Verdict read_product(const Problem& problem, ProductGeometry& g) {
    if (Verdict verdict = check_operands(problem); !verdict) return verdict;
    g = {};
    g.constant_a = constant(problem, 0);
    g.constant_b = constant(problem, 1);
    if (problem.op == "Gemm") {
        if (problem.src[0]->shape.rank() != 2 || problem.src[1]->shape.rank() != 2)
            return Verdict::no(Reason::shape, "Gemm of operands that are not matrices");
        read_gemm(problem, g);
    } else {
        read_matmul(problem, g);
    }
    return Epilogue::supports(with_addend_in_epilogue(problem, g), Epilogue::View::last_dim);
}

ProductGeometry product_geometry(const Problem& problem) {
    ProductGeometry geometry;
    HEADWAY_CHECK(read_product(problem, geometry));
    return geometry;
}

Problem with_addend_in_epilogue(const Problem& problem, const ProductGeometry& g) {
    if (g.addend != ProductGeometry::Addend::tensor) return problem;
    Problem extended = problem;
    Program& program = extended.epilogue;
    for (Instruction& instruction : program.code)
        if (instruction.op == Opcode::load) ++instruction.a;
    const Instruction add[] = {{.op = Opcode::load, .dst = 1, .a = 0},
                               {.op = Opcode::mul_add, .dst = 1, .a = 1, .x = g.beta},
                               {.op = Opcode::add, .dst = 0, .a = 0, .b = 1}};
    program.code.insert(program.code.begin(), std::begin(add), std::end(add));
    program.operands += 1;
    program.registers = std::max(program.registers, 2);
    extended.operands.insert(extended.operands.begin(), *problem.src[2]);
    return extended;
}

}  // namespace headway
