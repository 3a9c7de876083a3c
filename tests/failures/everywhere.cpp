#include "everywhere.h"

#include <cmath>
#include <sstream>

#include "graph/text.h"

namespace headway::testing {
namespace {

void expect_outputs(const std::vector<Tensor>& got, const std::vector<Expected>& want, double tolerance) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < want.size(); ++k) {
        SCOPED_TRACE("output " + std::to_string(k));
        ASSERT_EQ(got[k].shape(), want[k].shape) << got[k].shape().text() << " is not " << want[k].shape.text();
        ASSERT_EQ(got[k].elements(), static_cast<int64_t>(want[k].values.size()));
        for (int64_t i = 0; i < got[k].elements(); ++i) {
            const double a = got[k].at(i), b = want[k].values[static_cast<size_t>(i)];
            const bool same = a == b || (std::isnan(a) && std::isnan(b));
            EXPECT_TRUE(same || std::abs(a - b) <= tolerance * (1 + std::abs(b)))
                << "element " << i << " is " << a << ", not " << b;
        }
    }
}

// The inputs as constants: then everything can be computed when the engine is built.
Graph with_constants(const Graph& graph, const std::vector<Tensor>& inputs) {
    Graph constant = graph;
    for (size_t k = 0; k < inputs.size(); ++k) {
        Value& value = constant.value(constant.inputs[k]);
        value.constant = inputs[k];
        value.set_shape(inputs[k].shape());
    }
    constant.inputs.clear();
    return constant;
}

}  // namespace

Graph NodeCase::graph() const {
    Graph graph;
    Node node;
    node.op = op;
    node.version = version;
    node.origins = {op};
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].type() == ElementType::undefined) {
            node.inputs.push_back(no_value);
            continue;
        }
        const ValueId id = graph.add_value("in" + std::to_string(k), inputs[k].type());
        graph.value(id).set_shape(inputs[k].shape());
        if (k < at_run_time)
            graph.inputs.push_back(id);
        else
            graph.value(id).constant = inputs[k];
        node.inputs.push_back(id);
    }
    for (size_t k = 0; k < outputs; ++k) node.outputs.push_back(graph.add_value("out" + std::to_string(k)));
    graph.outputs = node.outputs;
    graph.add_node(std::move(node));
    return graph;
}

std::string passes_off() {
    std::string text;
    for (const Pass* pass : catalogue().passes)
        if (pass->fields().enabled != nullptr)
            text += (text.empty() ? "" : ",") + std::string(pass->fields().enabled->name()) + "=off";
    return text;
}

std::vector<std::string> every_route() {
    const std::string no_folding = "fold_constants.scope=shapes,fold_constants.max_mb=0";
    return {"", passes_off(), no_folding, passes_off() + "," + no_folding};
}

std::vector<Target> every_target() {
    std::vector<Target> targets;
    for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!runs_here(isa)) continue;
        Target target = Target::native();
        target.isa = isa;
        target.threads = 2;
        targets.push_back(target);
    }
    return targets;
}

void expect_everywhere(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Expected>& want,
                       double tolerance) {
    SCOPED_TRACE(print_graph(graph));
    {
        SCOPED_TRACE("interpreted");
        expect_outputs(interpret(graph, inputs, catalogue().ops), want, tolerance);
    }
    const Graph constant = with_constants(graph, inputs);
    Bindings bindings;
    for (size_t k = 0; k < inputs.size(); ++k) bindings.shapes[graph.value(graph.inputs[k]).name] = inputs[k].shape();
    for (const Target& target : every_target())
        for (const std::string& text : every_route()) {
            const Route route = Route::parse(text, catalogue().knobs);
            SCOPED_TRACE(std::string(to_string(target.isa)) + " " + text);
            expect_outputs(run_engine(build(graph, bindings, route, target, catalogue()).plan, target, inputs), want,
                           tolerance);
            SCOPED_TRACE("as constants");
            expect_outputs(run_engine(build(constant, {}, route, target, catalogue()).plan, target, {}), want,
                           tolerance);
        }
}

void expect_everywhere(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<Expected>& want,
                       double tolerance) {
    expect_everywhere(parse_graph(text), inputs, want, tolerance);
}

void expect_everywhere(const NodeCase& node, const std::vector<Expected>& want, double tolerance) {
    expect_everywhere(node.graph(), node.given(), want, tolerance);
}

void expect_interpreted(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<Expected>& want,
                        double tolerance) {
    SCOPED_TRACE(text);
    expect_outputs(interpret(parse_graph(text), inputs, catalogue().ops), want, tolerance);
}

void expect_refused(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<std::string>& words) {
    SCOPED_TRACE(text);
    const Graph graph = parse_graph(text);
    EXPECT_THROW(interpret(graph, inputs, catalogue().ops), UserError);
    try {
        build(graph, {}, {}, Target::native(), catalogue());
        ADD_FAILURE() << "built";
    } catch (const UserError& error) {
        const std::string said = error.what();
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
        for (const std::string& word : words) EXPECT_NE(said.find(word), std::string::npos) << said;
    }
}

int count_steps(const std::string& text, const std::string& op, const std::string& route) {
    const Plan plan =
        build(parse_graph(text), {}, Route::parse(route, catalogue().knobs), Target::native(), catalogue()).plan;
    int count = 0;
    for (const Step& step : plan.steps) count += step.problem.op == op ? 1 : 0;
    return count;
}

std::string braces(const std::vector<double>& values) {
    std::ostringstream text;
    text.precision(9);
    for (size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "{" : ",") << values[i];
    return text.str() + "}";
}

std::vector<double> numbers(int64_t count, const std::function<double(int64_t)>& value) {
    std::vector<double> values;
    for (int64_t k = 0; k < count; ++k) values.push_back(value(k));
    return values;
}

}  // namespace headway::testing
