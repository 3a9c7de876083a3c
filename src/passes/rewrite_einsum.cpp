// Einsum becomes Transpose, Reshape, ReduceSum and MatMul: operands are contracted from the left, two at a time, as
// products of matrices [batch, rows, inner] and [batch, inner, columns] of labels.
#include <algorithm>
#include <set>

#include "ops/einsum.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/replacement.h"

namespace headway {
namespace {

const Knob<std::string_view> enabled{{
    .name = "rewrite_einsum",
    .help = "Computes Einsum by matrix products; off: by plain code that walks all subscripts.",
    .family = "rewrite",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "einsum",
}};

using Labels = std::vector<int>;

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

// A value whose axes are named by labels.
struct Term {
    ValueId value;
    Labels labels;
};

class Contraction {
public:
    Contraction(PassContext& context, const Node& node, Equation equation)
        : build_(context, node), equation_(std::move(equation)) {}

    void run() {
        Term sum{build_.node().inputs[0], equation_.operands[0]};
        for (size_t next = 1; next < build_.node().inputs.size(); ++next)
            sum = contract(std::move(sum), {build_.node().inputs[next], equation_.operands[next]}, next + 1);
        sum = without(std::move(sum), equation_.result);
        if (sum.labels == equation_.result)
            build_.finish("Identity", {sum.value});
        else
            build_.finish("Transpose", {sum.value}, permutation(sum.labels, equation_.result));
    }

private:
    int64_t extent(const Labels& labels) const {
        int64_t product = 1;
        for (int label : labels) product *= equation_.extents.at(label);
        return product;
    }
    std::vector<int64_t> dims(const Labels& labels) const {
        std::vector<int64_t> result;
        for (int label : labels) result.push_back(equation_.extents.at(label));
        return result;
    }
    static Attributes permutation(const Labels& from, const Labels& to) {
        std::vector<int64_t> perm;
        for (int label : to) perm.push_back(std::ranges::find(from, label) - from.begin());
        return attributes_with({}, "perm", std::move(perm));
    }

    // Labels that neither `kept` nor a later operand names are summed away.
    Term without(Term term, const Labels& kept) {
        std::vector<int64_t> axes;
        Labels left;
        for (size_t axis = 0; axis < term.labels.size(); ++axis)
            if (has(kept, term.labels[axis]))
                left.push_back(term.labels[axis]);
            else
                axes.push_back(static_cast<int64_t>(axis));
        if (axes.empty()) return term;
        return {
            build_.make("ReduceSum", {term.value, build_.integers(axes)}, attributes_with({}, "keepdims", int64_t{0})),
            left};
    }

    ValueId arranged(const Term& term, const Labels& order, const std::vector<int64_t>& shape) {
        const ValueId turned =
            term.labels == order ? term.value : build_.make("Transpose", {term.value}, permutation(term.labels, order));
        return dims(order) == shape ? turned : build_.make("Reshape", {turned, build_.integers(shape)});
    }

    // The product of two terms; labels that only operands before `next` have, and the result has not, are summed.
    Term contract(Term a, Term b, size_t next) {
        Labels wanted = equation_.result;
        for (size_t i = next; i < equation_.operands.size(); ++i)
            wanted.insert(wanted.end(), equation_.operands[i].begin(), equation_.operands[i].end());
        const auto kept_beside = [&](const Term& other) {
            Labels kept = wanted;
            kept.insert(kept.end(), other.labels.begin(), other.labels.end());
            return kept;
        };
        a = without(std::move(a), kept_beside(b));
        b = without(std::move(b), kept_beside(a));
        Labels batch, rows, inner, columns;
        for (int label : a.labels) (!has(b.labels, label) ? rows : has(wanted, label) ? batch : inner).push_back(label);
        for (int label : b.labels)
            if (!has(a.labels, label)) columns.push_back(label);
        const auto joined = [](std::initializer_list<Labels> parts) {
            Labels all;
            for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
            return all;
        };
        std::vector<int64_t> left{extent(rows), extent(inner)}, right{extent(inner), extent(columns)};
        if (!batch.empty()) left.insert(left.begin(), extent(batch)), right.insert(right.begin(), extent(batch));
        const ValueId x = arranged(a, joined({batch, rows, inner}), left);
        const ValueId y = arranged(b, joined({batch, inner, columns}), right);
        const ValueId product = build_.make(inner.empty() ? "Mul" : "MatMul", {x, y});
        const Labels result = joined({batch, rows, columns});
        return {build_.make("Reshape", {product, build_.integers(dims(result))}), result};
    }

    Replacement build_;
    const Equation equation_;
};

Verdict is_plain(const Node& node, const Graph& graph, const Equation& equation) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const Value& operand = graph.value(node.inputs[i]);
        if (operand.type != ElementType::f32) return Verdict::no(Reason::element_type, "not f32");
        const Labels& labels = equation.operands[i];
        if (std::set<int>(labels.begin(), labels.end()).size() != labels.size())
            return Verdict::no(Reason::attribute, "a diagonal");
        for (size_t axis = 0; axis < labels.size(); ++axis)
            if (operand.shape()[axis] != equation.extents.at(labels[axis]))
                return Verdict::no(Reason::shape, "an extent of 1 that is broadcast");
    }
    return Verdict::yes();
}

bool run(PassContext& context) {
    return rewrite_each(context.graph, [&](NodeId id) {
        const Node node = context.graph.node(id);
        if (!is_op(node, "Einsum")) return false;
        std::vector<Shape> shapes;
        for (ValueId input : node.inputs) shapes.push_back(context.graph.value(input).shape());
        const Equation equation = parse_equation(node.attributes, shapes);
        if (const Verdict verdict = is_plain(node, context.graph, equation); !verdict) {
            context.refused(node.origins.front(), "MatMul", verdict);
            return false;
        }
        Contraction(context, node, equation).run();
        context.taken(node.origins.front(), "MatMul");
        return true;
    });
}

const Pass rewrite_einsum{{
    .name = "rewrite_einsum",
    .help = "Turns Einsum into matrix products.",
    .enabled = &enabled,
    .run = run,
}};

}  // namespace
}  // namespace headway
