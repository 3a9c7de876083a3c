#include "passes/merge_parallel.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace headway {

Tensor joined(const std::vector<Tensor>& parts, size_t axis) {
    Shape shape = parts.front().shape();
    shape[axis] = 0;
    for (const Tensor& part : parts) shape[axis] += part.shape()[axis];
    Tensor result(parts.front().type(), shape);
    const int64_t outer = shape.elements(0, axis), inner = shape.elements(axis + 1, shape.rank());
    const auto element = static_cast<int64_t>(size_of(result.type()));
    auto to = result.mutable_bytes().begin();
    for (int64_t i = 0; i < outer; ++i) {
        for (const Tensor& part : parts) {
            const int64_t bytes = part.shape()[axis] * inner * element;
            to = std::copy_n(part.bytes().begin() + i * bytes, bytes, to);
        }
    }
    return result;
}

void split_as(PassContext& context, ValueId whole, const std::vector<NodeId>& nodes, size_t axis) {
    Graph& graph = context.graph;
    Node split;
    split.op = "Split";
    split.version = rewrite_version("Split");
    split.origins = merged_origins(graph, nodes);
    split.attributes.set("axis", static_cast<int64_t>(axis));
    std::vector<int64_t> sizes;
    for (NodeId id : nodes) {
        split.outputs.push_back(graph.node(id).outputs[0]);
        sizes.push_back(graph.value(split.outputs.back()).shape()[axis]);
        graph.erase_node(id);
    }
    split.inputs = {whole, add_integers(graph, split.origins.front() + ".split", sizes)};
    infer_node(graph, graph.add_node(std::move(split)), context.ops);
}

}  // namespace headway
