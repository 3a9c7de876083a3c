#include "sample.h"

#include "graph/text.h"
#include "staged/staged_engine.h"

namespace headway::testing {
namespace {

Step reference_step(const std::string& op, const TensorDesc& desc) {
    Step step;
    step.kernel = "ref." + op;
    step.problem.op = op;
    step.problem.version = 14;
    step.problem.src = {desc, desc};
    step.problem.constant = {false, false};
    step.problem.dst = {desc};
    step.origins = {"/" + op};
    return step;
}

}  // namespace

Plan sample_plan() {
    const TensorDesc desc{ElementType::f32, Shape{1, 4}};
    Plan plan;
    plan.buffers = {{"x", desc, ValueKind::tensor, 0, Place::input, 0},
                    {"y", desc, ValueKind::tensor, 0, Place::input, 1},
                    {"sum", desc, ValueKind::tensor, 0, Place::arena, 0},
                    {"out", desc, ValueKind::tensor, 0, Place::output, 0}};
    plan.arena_bytes = 64;
    plan.inputs = {{"x", desc, 0, {}}, {"y", desc, 1, {}}};
    plan.outputs = {{"out", desc, 3, {}}};
    const Tensor factors = Tensor::of<float>(desc.shape, std::vector<float>{2, 3, 4, 5});
    plan.constants = {{desc, factors, factors.hash()}};
    plan.steps = {reference_step("Add", desc), reference_step("Mul", desc)};
    plan.steps[0].src = {0, 1};
    plan.steps[0].dst = {2};
    plan.steps[1].problem.constant = {false, true};
    plan.steps[1].src = {2, -1};
    plan.steps[1].dst = {3};
    plan.steps[1].packed = {0};
    return plan;
}

EngineInfo sample_info() {
    EngineInfo info;
    info.builder_version = "0.1.0";
    info.model = hash_text("sample");
    info.model_name = "sample";
    info.target = "isa=baseline";
    info.ledger = "[]";
    info.certificate = "{\"pass\":true}";
    return info;
}

EngineFile staged_sample() {
    const Graph graph = parse_graph(R"(graph {
        input %x: f32[n,2]
        const %offset: f32[2] = {2,3}
        %y: f32 = Add(%x, %offset)
        %places: i64 = NonZero(%y)
        output %y
        output %places
    })");
    return build_staged(graph, {}, {}, Target::parse("isa=baseline"), Catalogue(), sample_info(), {});
}

}  // namespace headway::testing
