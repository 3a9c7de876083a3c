#include "ops/einsum.h"

#include <algorithm>
#include <cctype>

#include "base/checked.h"
#include "base/limits.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"

namespace headway {
namespace {

constexpr int ellipsis_base = 1000;  // labels of the axes that an ellipsis stands for, counted from the right

std::vector<int> labels_of(const std::string& term, int64_t ellipsis_rank) {
    std::vector<int> labels;
    for (size_t i = 0; i < term.size(); ++i) {
        if (term[i] == ' ') continue;
        if (term[i] == '.') {
            if (term.compare(i, 3, "...") != 0) throw UserError("attribute equation is malformed");
            for (int64_t k = ellipsis_rank; k-- > 0;) labels.push_back(ellipsis_base + static_cast<int>(k));
            i += 2;
        } else if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
            labels.push_back(term[i]);
        } else {
            throw UserError("attribute equation is malformed");
        }
    }
    return labels;
}

std::vector<std::string> terms_of(const std::string& text) {
    std::vector<std::string> terms(1);
    for (char c : text) {
        if (c == ',')
            terms.emplace_back();
        else
            terms.back() += c;
    }
    return terms;
}

void take_extents(Equation& equation, const std::vector<int>& labels, const Shape& shape) {
    if (labels.size() != shape.rank()) throw UserError("attribute equation does not fit an operand of " + shape.text());
    for (size_t axis = 0; axis < labels.size(); ++axis) {
        const auto [at, fresh] = equation.extents.emplace(labels[axis], shape[axis]);
        if (!fresh && at->second == 1) at->second = shape[axis];
        if (at->second != shape[axis] && shape[axis] != 1) throw UserError("extents of one subscript differ");
    }
}

// Without an arrow: the ellipsis, then every letter that stands once, in alphabetical order.
std::vector<int> implied_result(const Equation& equation, int64_t ellipsis_rank) {
    std::map<int, int> uses;
    for (const auto& labels : equation.operands)
        for (int label : labels) ++uses[label];
    std::vector<int> result = labels_of("...", ellipsis_rank);
    for (const auto& [label, count] : uses)
        if (label < ellipsis_base && count == 1) result.push_back(label);
    return result;
}

}  // namespace

Equation parse_equation(const Attributes& attributes, const std::vector<Shape>& shapes) {
    const std::string text = attributes.text("equation", "");
    const size_t arrow = text.find("->");
    const std::vector<std::string> terms = terms_of(text.substr(0, arrow));
    if (terms.size() != shapes.size()) throw UserError("attribute equation has another number of operands");
    Equation equation;
    int64_t widest = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
        const int64_t spelt =
            terms[i].find('.') == std::string::npos
                ? 0
                : static_cast<int64_t>(shapes[i].rank()) - static_cast<int64_t>(labels_of(terms[i], 0).size());
        if (spelt < 0) throw UserError("attribute equation does not fit an operand of " + shapes[i].text());
        widest = std::max(widest, spelt);
        equation.operands.push_back(labels_of(terms[i], spelt));
        take_extents(equation, equation.operands.back(), shapes[i]);
    }
    equation.result =
        arrow == std::string::npos ? implied_result(equation, widest) : labels_of(text.substr(arrow + 2), widest);
    for (size_t i = 0; i < equation.result.size(); ++i)
        if (!equation.extents.contains(equation.result[i]) ||
            std::count(equation.result.begin(), equation.result.end(), equation.result[i]) > 1)
            throw UserError("attribute equation has a result that its operands do not give");
    return equation;
}

namespace {

Strides label_strides(const std::vector<int>& labels, const Shape& shape, const std::vector<int>& order) {
    const Strides own = shape.strides();
    Strides strides(order.size(), 0);
    for (size_t axis = 0; axis < labels.size(); ++axis)
        if (shape[axis] != 1)
            strides[static_cast<size_t>(std::find(order.begin(), order.end(), labels[axis]) - order.begin())] +=
                own[axis];
    return strides;
}

void infer_einsum(InferContext& context) {
    require_same_types(context);
    std::vector<Shape> shapes;
    for (size_t i = 0; i < context.input_count(); ++i) shapes.push_back(context.shape(i));
    const Equation equation = parse_equation(context.attributes(), shapes);
    std::vector<int64_t> dims;
    for (int label : equation.result) dims.push_back(equation.extents.at(label));
    context.set_output(0, context.type(0), Shape(std::move(dims)));
}

void einsum_reference(const ReferenceContext& context) {
    std::vector<Shape> shapes;
    for (const Tensor* input : context.inputs) shapes.push_back(input->shape());
    const Equation equation = parse_equation(context.attributes, shapes);
    // The walk: the result's subscripts, then those that are summed away.
    std::vector<int> order = equation.result;
    for (const auto& [label, extent] : equation.extents)
        if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
    std::vector<int64_t> dims;
    for (int label : order) dims.push_back(equation.extents.at(label));
    const Shape walk(dims);
    Strides to = context.out(0).shape().strides();
    to.resize(order.size(), 0);
    // Operands are multiplied in one after the other, on the whole walk.
    static_cast<void>(MemoryClaim(checked_mul(walk.elements(), sizeof(double), "the walk of an equation")));
    std::vector<double> products(static_cast<size_t>(walk.elements()), 1.0);
    for (size_t k = 0; k < shapes.size(); ++k) {
        const std::vector<double> x = doubles_of(context.in(k));
        StridedLoop<2>(walk, {label_strides(equation.operands[k], shapes[k], order), walk.strides()})
            .for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
                for (int64_t i = 0; i < count; ++i)
                    products[static_cast<size_t>(offsets[1] + i * steps[1])] *=
                        x[static_cast<size_t>(offsets[0] + i * steps[0])];
            });
    }
    std::vector<double> y = zeros(context.out(0).elements());
    StridedLoop<2>(walk, {walk.strides(), to}).for_each_row([&](const auto& offsets, int64_t count, const auto& steps) {
        for (int64_t i = 0; i < count; ++i)
            y[static_cast<size_t>(offsets[1] + i * steps[1])] +=
                products[static_cast<size_t>(offsets[0] + i * steps[0])];
    });
    store_doubles(y, context.out(0));
}

}  // namespace

const Op einsum_op{{
    .name = "Einsum",
    .since = {12},
    .inputs = {1, any_number},
    .types = number_types,
    .attributes = {{"equation", "string", "", "subscripts of the operands and of the result"}},
    .infer = infer_einsum,
    .reference = einsum_reference,
    .help = "Sum of products over subscripts, as in Einstein's notation.",
}};

}  // namespace headway
