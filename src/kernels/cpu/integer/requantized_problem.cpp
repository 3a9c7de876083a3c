#include "kernels/cpu/integer/requantized_problem.h"

#include <string>

#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

bool has_input(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }
bool is_byte(ElementType type) { return type == ElementType::u8 || type == ElementType::i8; }

Verdict read_convolution(const Problem& problem, RequantizedProblem& product) {
    Problem view;
    view.attributes = problem.attributes;
    view.src = {problem.src[0], problem.src[product.w]};
    view.constant = {false, true};
    view.dst = problem.dst;
    if (Verdict verdict = read_windows(view, product.g); !verdict) return verdict;
    if (!has_nhwc_bytes(*problem.src[0]) || !has_nhwc_bytes(problem.dst[0]))
        return Verdict::no(Reason::layout, "needs nhwc");
    product.tap_step = 1;
    product.channel_step = product.g.taps();
    product.out_step = product.g.k();
    return Verdict::yes();
}

// The rows of a product as the pixels of an image of one line.
Verdict read_product(const Problem& problem, bool turned_b, RequantizedProblem& product) {
    const Shape& a = problem.src[0]->shape;
    const Shape& b = problem.src[product.w]->shape;
    const Shape& y = problem.dst[0].shape;
    if (a.rank() < 2 || b.rank() != 2 || y.rank() != a.rank()) return Verdict::no(Reason::shape, "ranks");
    if (problem.src[0]->layout != Layout::plain || problem.dst[0].layout != Layout::plain)
        return Verdict::no(Reason::layout, "needs plain tensors");
    const int64_t inner = a.back(), columns = y.back(), rows = y.elements(0, y.rank() - 1);
    if (b != (turned_b ? Shape{columns, inner} : Shape{inner, columns}) || a.elements(0, a.rank() - 1) != rows)
        return Verdict::no(Reason::shape, "shapes do not fit");
    ConvGeometry& g = product.g;
    g.batch = g.ih = g.oh = g.kh = g.kw = g.group = 1;
    g.stride_h = g.stride_w = g.dilation_h = g.dilation_w = 1;
    g.ic = inner, g.oc = columns, g.iw = g.ow = rows;
    product.channel_step = turned_b ? 1 : columns;
    product.out_step = turned_b ? inner : 1;
    return Verdict::yes();
}

Verdict check_parameters(const Problem& problem, const RequantizedProblem& p) {
    for (size_t i = 1; i < problem.src.size(); ++i)
        if (has_input(problem, i) && !problem.constant[i])
            return Verdict::no(Reason::needs_constant, "input " + std::to_string(i));
    const auto single = [&](size_t i) { return problem.src[i]->shape.elements() == 1; };
    for (size_t i : {p.x_scale, p.x_zero, p.y_scale, p.y_zero})
        if (!single(i)) return Verdict::no(Reason::shape, "several scales of input or output");
    for (size_t i : {p.w_scale, p.w_zero})
        if (!single(i) && problem.src[i]->shape != Shape{p.g.oc})
            return Verdict::no(Reason::shape, "scales of weights");
    for (size_t i : {p.x_scale, p.w_scale, p.y_scale})
        if (problem.src[i]->type != ElementType::f32) return Verdict::no(Reason::element_type, "a scale is not f32");
    if (has_input(problem, p.bias) &&
        (problem.src[p.bias]->type != ElementType::i32 || problem.src[p.bias]->shape.elements() != p.g.oc))
        return Verdict::no(Reason::shape, "the bias");
    return Verdict::yes();
}

// Of one value, or of a value for each output channel.
double parameter(const Tensor& tensor, int64_t channel) { return tensor.at(tensor.elements() == 1 ? 0 : channel); }

}  // namespace

Verdict RequantizedProblem::make(const Problem& problem, RequantizedProblem& p) {
    p = {};
    const bool is_gemm = problem.op.ends_with("QGemm");
    // A, its scale and zero point, B, its, the bias, the output's.
    if (is_gemm) p.bias = 6, p.y_scale = 7, p.y_zero = 8;
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (problem.dst.size() != 1) return Verdict::no(Reason::shape, "outputs");
    for (size_t i : {size_t{0}, p.x_scale, p.x_zero, p.w, p.w_scale, p.w_zero, p.y_scale, p.y_zero})
        if (!has_input(problem, i)) return Verdict::no(Reason::shape, "an absent input");
    if (problem.constant[0]) return Verdict::no(Reason::shape, "the left operand is a constant");
    p.x_type = problem.src[0]->type, p.w_type = problem.src[p.w]->type, p.y_type = problem.dst[0].type;
    for (ElementType type : {p.x_type, p.w_type, p.y_type})
        if (!is_byte(type)) return Verdict::no(Reason::element_type, "not 8-bit integers");
    if (is_gemm && (problem.attributes.integer("transA", 0) != 0 || problem.attributes.real("alpha", 1) != 1))
        return Verdict::no(Reason::attribute, "transA or alpha");
    const bool turned_b = is_gemm && problem.attributes.integer("transB", 0) != 0;
    const Verdict shapes =
        problem.op == "QLinearConv" ? read_convolution(problem, p) : read_product(problem, turned_b, p);
    if (!shapes) return shapes;
    return check_parameters(problem, p);
}

RequantizedProblem::RowForm RequantizedProblem::row_form() const {
    if (g.group_ic() % 4 == 0) return RowForm::in_place;
    return g.group == 1 && g.dilation_w == 1 ? RowForm::band : RowForm::gathered;
}

int64_t RequantizedProblem::segments() const {
    const RowForm form = row_form();
    return form == RowForm::in_place ? g.taps() : form == RowForm::band ? g.kh : 1;
}

int64_t RequantizedProblem::segment_bytes() const { return g.k() / segments(); }

ByteOutput RequantizedProblem::output(float high, float zero) const {
    const uint8_t flip = flip_of(y_type, ElementType::i8);
    return {high, static_cast<int32_t>(zero) + flip, flip};
}

std::byte requantized_weight(const RequantizedProblem& p, const Tensor& w, int64_t out, int64_t tap, int64_t channel) {
    return w.bytes()[static_cast<size_t>(out * p.out_step + tap * p.tap_step + channel * p.channel_step)];
}

RequantizedTerms requantized_terms(const RequantizedProblem& p, std::span<const Tensor* const> constants) {
    const auto at = [&](size_t i) -> const Tensor& { return *constants[i]; };
    const Tensor* bias = p.bias < constants.size() ? constants[p.bias] : nullptr;
    RequantizedTerms terms;
    for (int64_t i = 0; i < p.g.oc; ++i) {
        terms.w_zero.push_back(static_cast<int32_t>(parameter(at(p.w_zero), i)) - flip_of(p.w_type, moved_b));
        terms.scale.push_back(
            static_cast<float>(at(p.x_scale).at(0) / at(p.y_scale).at(0) * parameter(at(p.w_scale), i)));
        terms.bias.push_back(bias == nullptr ? 0 : bias->data<int32_t>()[static_cast<size_t>(i)]);
    }
    terms.x_zero = static_cast<int32_t>(at(p.x_zero).at(0)) + flip_of(p.x_type, moved_a);
    const double zero = at(p.y_zero).at(0), highest = p.y_type == ElementType::u8 ? 255 : 127;
    terms.high = static_cast<float>(highest - zero);
    terms.zero = static_cast<float>(zero);
    return terms;
}

}  // namespace headway
