#include <limits>

#include "ops/arguments.h"
#include "ops/execute.h"
#include "ops/stacking.h"

namespace headway {
namespace {

// The value of the loop's count or condition in the shape that the body declares: exporters write scalars and [1].
Tensor loop_scalar(const Graph& body, size_t input, const Tensor& scalar) {
    const Value& declared = body.value(body.inputs[input]);
    const bool is_vector = declared.dims && declared.dims->size() == 1;
    return scalar.reshaped(is_vector ? Shape{1} : Shape{});
}

int64_t trip_count(const InterpretContext& context) {
    if (!context.has(0)) return std::numeric_limits<int64_t>::max();
    const std::vector<int64_t> count = context.tensor(0).to_int64();
    if (count.size() != 1) throw UserError("its trip count must hold one element");
    return count[0];
}

// Body inputs: iteration, condition, carried values. Body outputs: condition, carried values, slices of scan outputs.
std::vector<Datum> interpret_loop(const InterpretContext& context) {
    const Graph& body = context.subgraph("body");
    const size_t carried = context.inputs.size() - 2;
    if (body.inputs.size() != carried + 2)
        throw UserError("its body takes " + std::to_string(body.inputs.size()) + " values instead of " +
                        std::to_string(carried + 2));
    if (body.outputs.size() < carried + 1 || body.outputs.size() - 1 < context.node.outputs.size())
        throw UserError("its body gives only " + std::to_string(body.outputs.size()) + " values");
    const int64_t trips = trip_count(context);
    const auto holds = [](const Tensor& condition) { return scalar_of(condition, "its condition") != 0; };
    bool goes_on = !context.has(1) || holds(context.tensor(1));

    std::vector<Datum> state(carried);
    for (size_t i = 0; i < carried; ++i) state[i] = context.datum(i + 2);
    std::vector<std::vector<TensorValues>> slices(body.outputs.size() - 1 - carried);
    for (int64_t trip = 0; goes_on && trip < trips; ++trip) {
        std::vector<Datum> given{loop_scalar(body, 0, Tensor::scalar(trip)),
                                 loop_scalar(body, 1, Tensor::scalar(true))};
        given.insert(given.end(), state.begin(), state.end());
        const std::vector<Datum> results = context.run(body, given);
        goes_on = holds(tensor_of(results[0], "output of its body", 0));
        // ONNX's text says that the body's condition is ignored then; runtimes obey it.
        if (!goes_on && !context.has(1) && trip + 1 < trips)
            throw Unsupported("its body ends a loop that was given no condition");
        for (size_t i = 0; i < carried; ++i) state[i] = results[i + 1];
        for (size_t i = 0; i < slices.size(); ++i)
            slices[i].push_back(values_of(results[i + 1 + carried], "output of its body", i + 1 + carried));
    }
    std::vector<Datum> outputs = std::move(state);
    for (const std::vector<TensorValues>& each : slices) {
        if (each.empty()) throw Unsupported("it runs zero times, so that a scan output has no shape");
        outputs.push_back(datum_of(stacked(each, 0, "slices of a scan output")));
    }
    return outputs;
}

}  // namespace

const Op loop_op{{
    .name = "Loop",
    .since = {1, 11, 13, 16},
    .inputs = {2, any_number},
    .outputs = {1, any_number},
    .attributes = {{"body", "graph", "", "run once per iteration"}},
    .interpret = interpret_loop,
    .help = "Runs a sub-graph a number of times or while a condition holds. Carried values may be sequences and "
            "optionals. Interpreted only.",
}};

}  // namespace headway
