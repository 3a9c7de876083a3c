#include <algorithm>

#include "ops/arguments.h"
#include "ops/execute.h"
#include "ops/stacking.h"

namespace headway {
namespace {

// One entry per scanned input or output; the attribute's values, or zeros when it is not given.
std::vector<int64_t> scan_setting(const Attributes& attributes, const char* name, size_t count) {
    std::vector<int64_t> values = attributes.integers(name, std::vector<int64_t>(count, 0));
    require_length(values, count, name);
    return values;
}

struct ScanParts {
    const Graph* body = nullptr;
    size_t states = 0, inputs = 0, outputs = 0;  // carried, taken apart, joined
};

// `given`: states and scanned inputs. Their numbers, checked against the body.
ScanParts scan_parts(const InterpretContext& context, size_t given) {
    const int64_t scanned = context.attributes().integer("num_scan_inputs", 0);
    if (scanned < 1 || scanned > static_cast<int64_t>(given))
        throw UserError("num_scan_inputs is " + std::to_string(scanned) + " of " + std::to_string(given) + " inputs");
    ScanParts parts;
    parts.body = &context.subgraph("body");
    parts.inputs = static_cast<size_t>(scanned);
    parts.states = given - parts.inputs;
    if (parts.body->inputs.size() != given)
        throw UserError("its body takes " + std::to_string(parts.body->inputs.size()) + " values instead of " +
                        std::to_string(given));
    if (parts.body->outputs.size() < std::max(parts.states, context.node.outputs.size()))
        throw UserError("its body gives only " + std::to_string(parts.body->outputs.size()) + " values");
    parts.outputs = parts.body->outputs.size() - parts.states;
    return parts;
}

struct ScanInput {
    TensorValues tensor;
    size_t axis = 0;
    bool backwards = false;
};

// The final states, then the slices of each scan output in the order of the iterations.
struct ScanResult {
    std::vector<TensorValues> states;
    std::vector<std::vector<TensorValues>> slices;
};

std::vector<Datum> data_of(const std::vector<TensorValues>& tensors) {
    std::vector<Datum> data;
    for (const TensorValues& each : tensors) data.push_back(datum_of(each));
    return data;
}

ScanResult run_scan(const InterpretContext& context, const ScanParts& parts, std::vector<TensorValues> states,
                    const std::vector<ScanInput>& inputs) {
    const int64_t length = shape_of(inputs[0].tensor)[inputs[0].axis];
    for (const ScanInput& input : inputs)
        if (shape_of(input.tensor)[input.axis] != length) throw UserError("its scanned inputs have different lengths");
    ScanResult result{std::move(states), std::vector<std::vector<TensorValues>>(parts.outputs)};
    for (int64_t trip = 0; trip < length; ++trip) {
        std::vector<Datum> given = data_of(result.states);
        for (const ScanInput& input : inputs)
            given.push_back(datum_of(slice_of(input.tensor, input.axis, input.backwards ? length - 1 - trip : trip)));
        const std::vector<Datum> results = context.run(*parts.body, given);
        for (size_t i = 0; i < parts.states; ++i) result.states[i] = values_of(results[i], "output of its body", i);
        for (size_t i = 0; i < parts.outputs; ++i)
            result.slices[i].push_back(values_of(results[parts.states + i], "output of its body", parts.states + i));
    }
    return result;
}

TensorValues joined_slices(std::vector<TensorValues> slices, int64_t axis, bool backwards) {
    if (slices.empty()) throw Unsupported("it runs zero times, so that a scan output has no shape");
    if (backwards) std::ranges::reverse(slices);
    const size_t rank = shape_of(slices[0]).rank() + 1;
    return stacked(slices, static_cast<size_t>(normalized_axis(axis, rank)), "slices of a scan output");
}

std::vector<Datum> interpret_scan(const InterpretContext& context) {
    const ScanParts parts = scan_parts(context, context.inputs.size());
    const std::vector<int64_t> axes = scan_setting(context.attributes(), "scan_input_axes", parts.inputs);
    const std::vector<int64_t> backwards = scan_setting(context.attributes(), "scan_input_directions", parts.inputs);
    std::vector<TensorValues> states;
    for (size_t i = 0; i < parts.states; ++i) states.push_back(context.values(i));
    std::vector<ScanInput> inputs;
    for (size_t i = 0; i < parts.inputs; ++i) {
        TensorValues tensor = context.values(parts.states + i);
        const auto axis = static_cast<size_t>(normalized_axis(axes[i], shape_of(tensor).rank()));
        inputs.push_back({std::move(tensor), axis, backwards[i] != 0});
    }
    ScanResult result = run_scan(context, parts, std::move(states), inputs);

    const std::vector<int64_t> output_axes = scan_setting(context.attributes(), "scan_output_axes", parts.outputs);
    const std::vector<int64_t> reversed = scan_setting(context.attributes(), "scan_output_directions", parts.outputs);
    std::vector<Datum> outputs = data_of(result.states);
    for (size_t i = 0; i < parts.outputs; ++i)
        outputs.push_back(datum_of(joined_slices(std::move(result.slices[i]), output_axes[i], reversed[i] != 0)));
    return outputs;
}

// Whether sequence_lens, which may be absent, asks for the whole length of every sequence.
void require_full_length(const InterpretContext& context, int64_t length) {
    if (!context.has(0)) return;
    for (const int64_t each : context.tensor(0).to_int64())
        if (each != length) throw Unsupported("sequences of different lengths are not handled");
}

// Opset 8: input 0 is sequence_lens; all others have a batch axis in front, scanned ones the sequence axis behind it.
std::vector<Datum> interpret_batched_scan(const InterpretContext& context) {
    const ScanParts parts = scan_parts(context, context.inputs.size() - 1);
    const std::vector<int64_t> backwards = scan_setting(context.attributes(), "directions", parts.inputs);
    std::vector<TensorValues> given;
    for (size_t i = 0; i < parts.states + parts.inputs; ++i) {
        given.push_back(context.values(1 + i));
        const Shape& shape = shape_of(given[i]);
        if (shape.rank() < (i < parts.states ? 1U : 2U) || shape[0] != shape_of(given[0])[0])
            throw UserError("input " + std::to_string(i + 1) + " of " + shape.text() +
                            " lacks a batch or sequence axis");
    }
    require_full_length(context, shape_of(given[parts.states])[1]);

    std::vector<std::vector<TensorValues>> batches(parts.body->outputs.size());
    for (int64_t batch = 0; batch < shape_of(given[0])[0]; ++batch) {
        std::vector<TensorValues> states;
        for (size_t i = 0; i < parts.states; ++i) states.push_back(slice_of(given[i], 0, batch));
        std::vector<ScanInput> inputs;
        for (size_t i = 0; i < parts.inputs; ++i)
            inputs.push_back({slice_of(given[parts.states + i], 0, batch), 0, backwards[i] != 0});
        ScanResult result = run_scan(context, parts, std::move(states), inputs);
        for (size_t i = 0; i < parts.states; ++i) batches[i].push_back(std::move(result.states[i]));
        for (size_t i = 0; i < parts.outputs; ++i)
            batches[parts.states + i].push_back(joined_slices(std::move(result.slices[i]), 0, false));
    }
    std::vector<Datum> outputs;
    for (const std::vector<TensorValues>& each : batches) {
        if (each.empty()) throw Unsupported("the batch is empty, so that its outputs have no shape");
        outputs.push_back(datum_of(stacked(each, 0, "results of a batch")));
    }
    return outputs;
}

}  // namespace

const Op scan_op{{
    .name = "Scan",
    .since = {8, 9, 11, 16},
    .inputs = {1, any_number},
    .outputs = {1, any_number},
    .attributes = {{"body", "graph", "", "run once per slice of the scanned inputs"},
                   {"num_scan_inputs", "int", "", "how many of the last inputs are taken apart"},
                   {"scan_input_axes", "ints", "0 each", "axis along which each is taken apart"},
                   {"scan_input_directions", "ints", "0 each", "1: from the last slice to the first"},
                   {"scan_output_axes", "ints", "0 each", "axis along which the slices of an output are joined"},
                   {"scan_output_directions", "ints", "0 each", "1: the first slice is the last of the output"},
                   {"directions", "ints", "0 each", "scan_input_directions in opset 8"}},
    .interpret =
        [](const InterpretContext& context) {
            return context.node.version < 9 ? interpret_batched_scan(context) : interpret_scan(context);
        },
    .help = "Runs a sub-graph over the slices of its inputs, carrying states. Interpreted only. Opset 8 only with "
            "sequences of full length.",
}};

}  // namespace headway
