#include "ops/arguments.h"
#include "ops/rows.h"
#include "ops/softmax.h"

namespace headway {
namespace {

std::string loss_reduction(const Attributes& attributes) {
    std::string word = attributes.text("reduction", "mean");
    if (word != "none" && word != "sum" && word != "mean")
        throw UserError("attribute reduction is neither \"none\" nor \"sum\" nor \"mean\"");
    return word;
}

// Input N x C x D..., target N x D..., weight C.
void infer_loss(InferContext& context) {
    const Shape& shape = context.shape(0);
    if (shape.rank() < 2) throw UserError("its input has no axis of classes");
    std::vector<int64_t> dims(shape.begin(), shape.end());
    dims.erase(dims.begin() + 1);
    const Shape each(std::move(dims));
    if (context.shape(1) != each) throw UserError("its target should have shape " + each.text());
    if (!index_types.contains(context.type(1))) throw UserError("its target is neither i32 nor i64");
    if (context.has(2) && (context.shape(2) != Shape{shape[1]} || context.type(2) != context.type(0)))
        throw UserError("its weights do not fit " + std::to_string(shape[1]) + " classes of its input's type");
    context.set_output(0, context.type(0), loss_reduction(context.attributes()) == "none" ? each : Shape{});
    context.set_output(1, context.type(0), shape);
}

int64_t checked_class(int64_t target, int64_t classes) {
    if (target < 0 || target >= classes)
        throw UserError("target " + std::to_string(target) + " is none of " + std::to_string(classes) + " classes");
    return target;
}

// The loss of logarithms of probabilities.
void store_loss(const ReferenceContext& context, const std::vector<double>& logs) {
    const Lines lines = Lines::along(context.in(0).shape(), 1);
    const std::vector<int64_t> targets = context.in(1).to_int64();
    const std::vector<double> weights = context.has(2) ? doubles_of(context.in(2)) : std::vector<double>{};
    const bool ignores = context.attributes.has("ignore_index");
    const int64_t ignored = context.attributes.integer("ignore_index", 0);
    std::vector<double> losses(targets.size());
    double sum = 0;
    double total_weight = 0;
    for (size_t i = 0; i < targets.size(); ++i) {
        if (ignores && targets[i] == ignored) continue;
        const int64_t target = checked_class(targets[i], lines.length);
        const double weight = weights.empty() ? 1 : weights[static_cast<size_t>(target)];
        const int64_t at = static_cast<int64_t>(i);
        const int64_t from = (at / lines.inner * lines.length + target) * lines.inner + at % lines.inner;
        losses[i] = -logs[static_cast<size_t>(from)] * weight;
        sum += losses[i];
        total_weight += weight;
    }
    const std::string reduction = loss_reduction(context.attributes);
    if (reduction != "none") losses = {reduction == "sum" ? sum : sum / total_weight};
    store_doubles(losses, context.out(0));
}

void log_likelihood_reference(const ReferenceContext& context) { store_loss(context, doubles_of(context.in(0))); }

void cross_entropy_reference(const ReferenceContext& context) {
    std::vector<double> logs = doubles_of(context.in(0));
    const Lines lines = Lines::along(context.in(0).shape(), 1);
    change_lines(logs, lines, log_softmax_line);
    if (context.wants(1)) store_doubles(logs, context.out(1));
    if (context.wants(0)) store_loss(context, logs);
}

std::vector<AttributeDoc> loss_attributes() {
    return {{"ignore_index", "int", "", "targets of this value count nothing"},
            {"reduction", "string", "mean", "none, sum, or mean: the sum over the sum of the weights"}};
}

}  // namespace

const Op negative_log_likelihood_loss_op{{
    .name = "NegativeLogLikelihoodLoss",
    .since = {12, 13, 22},
    .inputs = {2, 3},
    .types = float_types,
    .attributes = loss_attributes(),
    .infer = infer_loss,
    .reference = log_likelihood_reference,
    .help = "-x[target] * weight[target] along the axis of classes, each or summed up.",
}};

const Op softmax_cross_entropy_loss_op{{
    .name = "SoftmaxCrossEntropyLoss",
    .since = {12, 13},
    .inputs = {2, 3},
    .outputs = {1, 2},
    .types = float_types,
    .attributes = loss_attributes(),
    .infer = infer_loss,
    .reference = cross_entropy_reference,
    .help = "NegativeLogLikelihoodLoss of LogSoftmax along the axis of classes, which is the second output.",
}};

}  // namespace headway
