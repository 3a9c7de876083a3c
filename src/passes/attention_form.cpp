#include "passes/attention_form.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace headway {
namespace {

int64_t extent_of(const StridedAxes& axes) {
    int64_t extent = 1;
    for (const StridedAxis& axis : axes) extent *= axis.extent;
    return extent;
}

// An operand as batch axes in one list, and two axes that run evenly.
struct Matrices {
    StridedAxes batch;
    int64_t offset = 0, row = 0, column = 0;
};

bool even_step(const StridedAxes& axes, int64_t& step) {
    const StridedAxes joined = joined_axes(axes);
    if (!joined.empty()) step = joined[0].step;
    return joined.size() <= 1;
}

// `batch` are the extents that the operand's own batch axes broadcast to.
std::optional<Matrices> matrices_of(const StridedView& view, const std::vector<int64_t>& batch, int64_t rows,
                                    int64_t columns) {
    if (view.axes.size() > batch.size() + 2) return std::nullopt;
    const size_t lead = batch.size() + 2 - view.axes.size();
    const auto axis = [&](size_t at) { return at < lead ? StridedAxes{} : view.axes[at - lead]; };
    Matrices matrices;
    matrices.offset = view.offset;
    for (size_t at = 0; at < batch.size(); ++at) {
        StridedAxes axes = axis(at);
        if (batch[at] != 1 && extent_of(axes) == 1) axes = {{batch[at], 0}};
        if (extent_of(axes) != batch[at]) return std::nullopt;
        matrices.batch.insert(matrices.batch.end(), axes.begin(), axes.end());
    }
    for (const auto& [at, extent] : {std::pair(batch.size(), rows), std::pair(batch.size() + 1, columns)})
        if (extent_of(axis(at)) != extent && extent_of(axis(at)) != 1) return std::nullopt;
    if (!even_step(axis(batch.size()), matrices.row) || !even_step(axis(batch.size() + 1), matrices.column))
        return std::nullopt;
    return matrices;
}

// Cuts the batch axes of all operands so that they have the same extents; `steps` are by operand.
bool cut_alike(const std::vector<StridedAxes>& operands, std::vector<int64_t>& extents,
               std::vector<std::vector<int64_t>>& steps) {
    std::vector<size_t> next(operands.size(), 0);
    std::vector<StridedAxis> rest(operands.size(), {1, 0});
    steps.assign(operands.size(), {});
    for (;;) {
        int64_t shared = 0;
        for (size_t k = 0; k < operands.size(); ++k) {
            while (rest[k].extent == 1 && next[k] < operands[k].size()) rest[k] = operands[k][next[k]++];
            shared = k == 0 ? rest[k].extent : std::min(shared, rest[k].extent);
        }
        if (shared == 1) return true;  // all have as many elements
        for (size_t k = 0; k < operands.size(); ++k) {
            if (rest[k].extent % shared != 0) return false;
            rest[k].extent /= shared;
            steps[k].push_back(rest[k].step * rest[k].extent);
        }
        extents.push_back(shared);
    }
}

// Neighbouring axes over which every operand runs on evenly become one.
void join_alike(std::vector<int64_t>& extents, std::vector<std::vector<int64_t>>& steps) {
    for (size_t axis = extents.size(); axis-- > 1;) {
        const bool joins =
            std::ranges::all_of(steps, [&](const auto& own) { return own[axis - 1] == own[axis] * extents[axis]; });
        if (!joins) continue;
        extents[axis - 1] *= extents[axis];
        extents.erase(extents.begin() + static_cast<int64_t>(axis));
        for (auto& own : steps) own.erase(own.begin() + static_cast<int64_t>(axis) - 1);
    }
}

std::optional<AttentionForm> form_of(const Graph& graph, const AttentionParts& parts) {
    AttentionForm form;
    std::vector<int64_t> shape;
    for (const StridedAxes& axes : parts.y.axes) shape.push_back(extent_of(axes));
    if (shape.size() < 2 || parts.q.axes.size() < 2 || parts.k.axes.size() < 2 || parts.v.axes.size() < 2)
        return std::nullopt;
    form.queries = shape[shape.size() - 2];
    form.value_size = shape.back();
    form.keys = extent_of(parts.k.axes[parts.k.axes.size() - 2]);
    form.size = extent_of(parts.k.axes.back());
    const std::vector<int64_t> batch(shape.begin(), shape.end() - 2);
    struct Operand {
        const StridedView& view;
        HeadMatrices& matrices;
        int64_t rows, columns;
    };
    std::vector<Operand> operands{{parts.q, form.q, form.queries, form.size},
                                  {parts.k, form.k, form.keys, form.size},
                                  {parts.v, form.v, form.keys, form.value_size},
                                  {parts.y, form.y, form.queries, form.value_size}};
    if (parts.mask) operands.push_back({*parts.mask, form.mask, form.queries, form.keys});
    std::vector<StridedAxes> batch_axes;
    for (const auto& [view, matrices, rows, columns] : operands) {
        const auto found = matrices_of(view, batch, rows, columns);
        if (!found) return std::nullopt;
        batch_axes.push_back(found->batch);
        matrices.offset = found->offset;
        matrices.row = found->row;
        matrices.column = found->column;
    }
    std::vector<std::vector<int64_t>> steps;
    if (!cut_alike(batch_axes, form.batch, steps)) return std::nullopt;
    join_alike(form.batch, steps);
    for (size_t k = 0; k < operands.size(); ++k) operands[k].matrices.batch = steps[k];
    form.y_shape = graph.value(parts.result).shape();
    form.scale = static_cast<float>(parts.scale * parts.q.scale * parts.k.scale);
    form.mask_kind = parts.mask_kind;
    form.hidden = parts.hidden;
    form.causal = parts.causal;
    form.nan_to_zero = parts.nan_to_zero;
    return form;
}

// What the kernels need beyond what the operator can say.
bool suits_kernels(const AttentionForm& form) {
    const bool even_mask = form.mask_kind == AttentionForm::Mask::none || form.mask.column == 1 || form.keys == 1;
    return even_mask && (form.y.column == 1 || form.value_size == 1);
}

}  // namespace

Verdict append_attention(PassContext& context, const AttentionParts& parts, std::vector<std::string> origins) {
    Graph& graph = context.graph;
    const auto form = form_of(graph, parts);
    if (!form || !suits_kernels(*form)) return Verdict::no(Reason::layout, "its operands do not run evenly");
    Node node;
    node.op = "StridedAttention";
    node.domain = "headway";
    node.version = 1;
    node.inputs = {parts.q.source, parts.k.source, parts.v.source};
    if (parts.mask) node.inputs.push_back(parts.mask->source);
    std::vector<std::optional<TensorDesc>> src;
    for (ValueId input : node.inputs)
        src.emplace_back(TensorDesc{graph.value(input).type, graph.value(input).shape(), Layout::plain});
    node.attributes = attention_attributes(*form);
    node.origins = std::move(origins);
    AttentionForm read;
    if (Verdict verdict = read_attention(node.attributes, src, read); !verdict) return verdict;
    append_as(context, parts.result, std::move(node));
    return Verdict::yes();
}

}  // namespace headway
