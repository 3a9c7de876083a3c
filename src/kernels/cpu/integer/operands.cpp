#include "kernels/cpu/integer/operands.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace headway {
namespace {

constexpr size_t b_input = 1;

bool is_present(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }

bool is_known(const Problem& problem, size_t i) {
    return is_present(problem, i) && i < problem.constant.size() && problem.constant[i];
}

bool is_byte(ElementType type) { return type == ElementType::u8 || type == ElementType::i8; }

}  // namespace

IntegerOperands::IntegerOperands(const Problem& problem) {
    int blobs = 0;
    for (size_t i = 0; i < present_.size(); ++i) {
        present_[i] = is_present(problem, i);
        if (!is_known(problem, i)) continue;
        packed_[i] = blobs;
        blobs += i == b_input ? 2 : 1;
    }
}

Verdict check_integer_operands(const Problem& problem, int64_t columns) {
    if (!problem.epilogue.empty() || !problem.operands.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (!is_present(problem, 0) || !is_present(problem, 1) || problem.src.size() > 4 || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "inputs or outputs");
    if (is_known(problem, 0)) return Verdict::no(Reason::shape, "the left operand is a constant");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!is_present(problem, i)) continue;
        if (!is_byte(problem.src[i]->type) || problem.src[i]->type != problem.src[i % 2]->type)
            return Verdict::no(Reason::element_type, "input " + std::to_string(i));
        if (problem.src[i]->layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    }
    if (problem.dst[0].type != ElementType::i32 || problem.dst[0].layout != Layout::plain)
        return Verdict::no(Reason::layout, "needs a plain i32 output");
    if (is_present(problem, 2) && problem.src[2]->shape.elements() != 1)
        return Verdict::no(Reason::shape, "a zero point for each row");
    if (is_present(problem, 3) && problem.src[3]->shape.elements() != 1 && problem.src[3]->shape != Shape{columns})
        return Verdict::no(Reason::shape, "zero points of the right operand");
    return Verdict::yes();
}

std::vector<Tensor> pack_integers(const Problem& problem, std::span<const Tensor* const> constants,
                                  std::vector<Tensor> b) {
    std::vector<Tensor> blobs;
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!is_known(problem, i)) continue;
        if (i == b_input)
            std::ranges::move(b, std::back_inserter(blobs));
        else
            blobs.push_back(*constants[i]);
    }
    return blobs;
}

}  // namespace headway
