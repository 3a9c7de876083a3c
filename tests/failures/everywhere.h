// Runs one small graph in every way that must not matter: by the interpreter, and by engines with all passes on, all
// off and folding confined to shapes, on every instruction set of this machine, with the inputs given at run time and
// as constants that are folded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "ops/testing.h"
#include "support/graph_engine.h"

namespace headway::testing {

struct Expected {
    Shape shape;
    std::vector<double> values;
};

// Every output of the graph in text form against values computed elsewhere: |got - want| <= tolerance * (1 + |want|),
// NaN and infinities at the same places. `tolerance` 0 asks for equal values.
void expect_everywhere(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<Expected>& want,
                       double tolerance = 1e-5);
void expect_everywhere(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Expected>& want,
                       double tolerance = 1e-5);

// A graph of one node. The first `at_run_time` inputs are inputs of the graph, the others constants; a tensor of type
// undefined stands for an absent input.
struct NodeCase {
    std::string op;
    int version = 17;
    std::vector<Tensor> inputs;
    NamedAttributes attributes = {};
    size_t outputs = 1;
    size_t at_run_time = 1;

    Graph graph() const;
    std::vector<Tensor> given() const {
        return {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(at_run_time)};
    }
};
void expect_everywhere(const NodeCase& node, const std::vector<Expected>& want, double tolerance = 1e-5);

// Only by the interpreter: for what no engine holds.
void expect_interpreted(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<Expected>& want,
                        double tolerance = 1e-5);

// Both the interpreter and a build say no with one UserError; the words stand in what the build says.
void expect_refused(const std::string& text, const std::vector<Tensor>& inputs, const std::vector<std::string>& words);

// The routes and targets that expect_everywhere builds for.
std::vector<std::string> every_route();
std::vector<Target> every_target();
// `<pass>=off` for every pass that can be switched off.
std::string passes_off();

// Number of steps of the built plan whose operator this is.
int count_steps(const std::string& text, const std::string& op, const std::string& route = "");

// The values of a tensor in a graph text: {1,2,nan}.
std::string braces(const std::vector<double>& values);
// want[k] = value(k) for k in [0, count).
std::vector<double> numbers(int64_t count, const std::function<double(int64_t)>& value);

}  // namespace headway::testing
