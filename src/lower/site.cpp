#include "lower/site.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "passes/pointwise_body.h"

namespace headway {
namespace {

TensorDesc plain(const Graph& graph, ValueId id) {
    return {graph.value(id).type, graph.value(id).shape(), Layout::plain};
}

// Values of a Group's body as values of the graph around it.
class BodyValues {
public:
    BodyValues(Graph& graph, const Graph& body, const std::vector<ValueId>& group_inputs) : graph_(graph), body_(body) {
        HEADWAY_CHECK(body.inputs.size() == group_inputs.size());
        for (size_t k = 0; k < body.inputs.size(); ++k) outer_[body.inputs[k]] = group_inputs[k];
    }

    ValueId outer(ValueId id) {
        const auto [at, fresh] = outer_.try_emplace(id, no_value);
        if (fresh) {
            const Tensor* constant = body_.constant(id);
            HEADWAY_CHECK(constant != nullptr);
            at->second = graph_.add_constant(body_.value(id).name, *constant);
        }
        return at->second;
    }

private:
    Graph& graph_;
    const Graph& body_;
    std::map<ValueId, ValueId> outer_;
};

void set_src(LowerSite& site, const Graph& graph, const std::vector<ValueId>& src) {
    site.src = src;
    for (ValueId id : src) {
        site.problem.src.push_back(id == no_value ? std::nullopt : std::optional(plain(graph, id)));
        site.problem.constant.push_back(graph.is_constant(id));
    }
    std::vector<const Tensor*> constants;
    for (ValueId id : src) constants.push_back(graph.constant(id));
    give_constants(site.problem, constants);
}

void set_dst(LowerSite& site, const Graph& graph, const std::vector<ValueId>& dst) {
    // An unused output has no element type: f32 would be a scalar that somebody wants.
    const TensorDesc unused{ElementType::undefined, {}, Layout::plain};
    site.dst = dst;
    for (ValueId id : dst) site.problem.dst.push_back(id == no_value ? unused : plain(graph, id));
}

void set_program(LowerSite& site, const Graph& graph, Program program, const std::vector<ValueId>& operands) {
    site.problem.epilogue = std::move(program);
    site.operands = operands;
    for (ValueId id : operands) site.problem.operands.push_back(plain(graph, id));
}

LowerSite site_of_body(Graph& graph, const std::vector<std::string>& origins, const Graph& body,
                       const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs) {
    Verdict why;
    const std::optional<PointwiseBody> parts = program_of(body, &why);
    if (!parts) throw InternalError("group " + origins.front() + " cannot be taken apart: " + why.text());
    LowerSite site;
    site.origins = origins;
    BodyValues values(graph, body, inputs);
    const auto outer = [&](const std::vector<ValueId>& ids) {
        std::vector<ValueId> result;
        for (ValueId id : ids) result.push_back(id == no_value ? no_value : values.outer(id));
        return result;
    };
    if (parts->anchor != no_node) {
        const Node& anchor = body.node(parts->anchor);
        site.problem.op = anchor.op;
        site.problem.version = anchor.version;
        site.problem.attributes = anchor.attributes;
        set_src(site, graph, outer(anchor.inputs));
    } else {
        site.problem.op = "Pointwise";
    }
    set_program(site, graph, parts->program, outer(parts->operands));
    set_dst(site, graph, outputs);
    return site;
}

}  // namespace

LowerSite make_site(Graph& graph, NodeId id) {
    const Node node = graph.node(id);
    if (node.op == "Group") return site_of_body(graph, node.origins, *node.body, node.inputs, node.outputs);
    if (is_pointwise(graph, node)) {
        std::vector<ValueId> inputs;
        const Graph body = body_of(graph, {id}, node.outputs, inputs);
        return site_of_body(graph, node.origins, body, inputs, node.outputs);
    }
    LowerSite site;
    site.origins = node.origins;
    site.problem.op = node.domain.empty() ? node.op : node.domain + "/" + node.op;
    site.problem.version = node.version;
    site.problem.attributes = node.attributes;
    set_src(site, graph, node.inputs);
    set_dst(site, graph, node.outputs);
    const bool has_data = !node.inputs.empty() && node.inputs[0] != no_value;
    if (has_data && node.outputs.size() == 1 && node.outputs[0] != no_value) site.view_of = id;
    return site;
}

std::vector<LowerSite> split_site(Graph& graph, const LowerSite& site) {
    HEADWAY_CHECK(site.dst.size() == 1);
    LowerSite anchor = site;
    anchor.problem.epilogue = {};
    anchor.problem.operands.clear();
    anchor.operands.clear();
    const ValueId between = graph.add_fresh_value(graph.value(site.dst[0]).name, graph.value(site.dst[0]).type);
    graph.value(between).set_shape(graph.value(site.dst[0]).shape());
    anchor.dst = {between};

    LowerSite rest;
    rest.origins = site.origins;
    rest.problem.op = "Pointwise";
    // Register 0 held the anchor's result; now the first operand does.
    Program program = site.problem.epilogue;
    for (Instruction& instruction : program.code)
        if (instruction.op == Opcode::load) ++instruction.a;
    program.code.insert(program.code.begin(), Instruction{.op = Opcode::load, .dst = 0, .a = 0});
    ++program.operands;
    std::vector<ValueId> operands{between};
    operands.insert(operands.end(), site.operands.begin(), site.operands.end());
    set_program(rest, graph, std::move(program), operands);
    set_dst(rest, graph, site.dst);
    return {anchor, rest};
}

}  // namespace headway
