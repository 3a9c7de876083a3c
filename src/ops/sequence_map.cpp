#include "ops/execute.h"

namespace headway {
namespace {

// Tensors among the further inputs are given to every run as they are; sequences give one tensor each.
std::vector<Datum> interpret_sequence_map(const InterpretContext& context) {
    const Graph& body = context.subgraph("body");
    if (body.outputs.size() < context.node.outputs.size())
        throw UserError("its body gives only " + std::to_string(body.outputs.size()) + " values");
    const size_t length = context.sequence(0).tensors.size();
    for (size_t i = 1; i < context.inputs.size(); ++i)
        if (const auto* sequence = std::get_if<Sequence>(&context.datum(i));
            sequence && sequence->tensors.size() != length)
            throw UserError("its sequences have different lengths");
    std::vector<Sequence> results;
    for (const ValueId output : body.outputs) results.push_back({body.value(output).type, {}});
    for (size_t k = 0; k < length; ++k) {
        std::vector<Datum> given;
        for (size_t i = 0; i < context.inputs.size(); ++i) {
            const auto* sequence = std::get_if<Sequence>(&context.datum(i));
            given.push_back(datum_of(sequence == nullptr ? context.values(i) : sequence->tensors[k]));
        }
        const std::vector<Datum> outputs = context.run(body, given);
        for (size_t i = 0; i < results.size(); ++i)
            insert_tensor(results[i], k, values_of(outputs[i], "output of its body", i));
    }
    return {std::make_move_iterator(results.begin()), std::make_move_iterator(results.end())};
}

}  // namespace

const Op sequence_map_op{{
    .name = "SequenceMap",
    .since = {17},
    .inputs = {1, any_number},
    .outputs = {1, any_number},
    .attributes = {{"body", "graph", "", "run once per tensor of the sequence"}},
    .interpret = interpret_sequence_map,
    .help = "Runs a sub-graph on each tensor of a sequence. Interpreted only.",
}};

}  // namespace headway
