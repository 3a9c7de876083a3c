#include "ops/reference_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/call_work.h"
#include "ops/execute.h"
#include "ops/work.h"

namespace headway {
namespace {

Verdict supports(const Op& op, const Problem& problem) {
    if (!problem.epilogue.empty() || !problem.operands.empty())
        return Verdict::no(Reason::epilogue, "references take no epilogue");
    const auto plain = [](const TensorDesc& desc) { return desc.layout == Layout::plain; };
    for (const auto& src : problem.src)
        if (src && !plain(*src)) return Verdict::no(Reason::layout, "references need plain layouts");
    if (!std::ranges::all_of(problem.dst, plain)) return Verdict::no(Reason::layout, "references need plain layouts");
    const TypeSet types = op.fields().types;
    if (!problem.src.empty() && problem.src[0] && !types.empty() && !types.contains(problem.src[0]->type))
        return Verdict::no(Reason::element_type, std::string(to_string(problem.src[0]->type)));
    if (problem.version < op.fields().since.front())
        return Verdict::no(Reason::attribute, "opset " + std::to_string(problem.version));
    return Verdict::yes();
}

bool is_constant(const Problem& problem, size_t i) {
    return problem.src[i] && i < problem.constant.size() && problem.constant[i];
}

class PreparedReference : public Prepared {
public:
    PreparedReference(const Op& op, const Problem& problem) : op_(op), problem_(problem) {
        node_.op = op.fields().name;
        node_.domain = op.fields().domain;
        node_.version = problem.version;
        node_.attributes = problem.attributes;
        for (size_t i = 0; i < problem.dst.size(); ++i)
            node_.outputs.push_back(problem.dst[i].type == ElementType::undefined ? no_value : static_cast<ValueId>(i));
        std::vector<const Shape*> inputs, outputs;
        for (const auto& src : problem_.src) inputs.push_back(src ? &src->shape : nullptr);
        for (const TensorDesc& dst : problem_.dst) outputs.push_back(&dst.shape);
        work_ = reference_work(node_, inputs, outputs);
    }

    int64_t tiles(int) const override { return 1; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        if (begin >= end) return;
        const std::vector<Tensor> sources = views(args);
        std::vector<const Tensor*> inputs;
        for (size_t i = 0; i < sources.size(); ++i) inputs.push_back(problem_.src[i] ? &sources[i] : nullptr);
        // Shapes follow from the data once more: the problem may come from an engine file that lies about them.
        const auto descs = infer_outputs(op_, node_, inputs);
        std::vector<Tensor> outputs(descs.size());
        std::vector<Tensor*> wanted(descs.size(), nullptr);
        for (size_t i = 0; i < descs.size(); ++i) {
            if (!descs[i]) continue;
            if (*descs[i] != problem_.dst[i])
                throw UserError(describe(node_) + ": the engine's output shape does not fit");
            const std::span<std::byte> memory{args.dst[i], static_cast<size_t>(problem_.dst[i].bytes())};
            std::ranges::fill(memory, std::byte{0});
            outputs[i] = Tensor::writable_view(descs[i]->type, descs[i]->shape, memory);
            wanted[i] = &outputs[i];
        }
        charge_reference_work(work_);
        op_.fields().reference({node_.attributes, node_.version, inputs, wanted});
    }

private:
    std::vector<Tensor> views(const Args& args) const {
        std::vector<Tensor> tensors;
        size_t packed = 0;
        for (size_t i = 0; i < problem_.src.size(); ++i) {
            const auto& desc = problem_.src[i];
            if (!desc) {
                tensors.emplace_back();
                continue;
            }
            const std::byte* data = is_constant(problem_, i) ? args.packed[packed++] : args.src[i];
            tensors.emplace_back(desc->type, desc->shape, std::span(data, static_cast<size_t>(desc->bytes())), nullptr);
        }
        return tensors;
    }

    const Op& op_;
    const Problem problem_;
    Node node_;
    int64_t work_;
};
}  // namespace

std::unique_ptr<const Kernel> make_reference_kernel(const Op& op) {
    Kernel::Fields fields;
    fields.name = "ref." + std::string(op.name());
    fields.algorithm = "reference";
    fields.help = "The reference of " + std::string(op.name()) + ": plain loops on one thread.";
    fields.ops = {std::string(op.name())};
    fields.numerics = Numerics::exact;
    fields.supports = [&op](const Problem& problem, const Target&, const Choices&) { return supports(op, problem); };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        std::vector<Tensor> packed;
        for (size_t i = 0; i < problem.src.size(); ++i)
            if (is_constant(problem, i)) packed.push_back(*constants[i]);
        return packed;
    };
    fields.prepare = [&op](const Problem& problem, const Target&, const Choices&) {
        return std::make_unique<PreparedReference>(op, problem);
    };
    return std::make_unique<const Kernel>(std::move(fields));
}

}  // namespace headway
