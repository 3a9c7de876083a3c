#include "random_weights.h"

#include <cmath>

#include "base/hash.h"
#include "base/rng.h"
#include "tensor/random.h"

namespace headway::conformance {
namespace {

bool is_variance(const Graph& graph, ValueId value) {
    constexpr size_t variance_input = 4;
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        const Node& node = graph.node(id);
        if (!node.dead && node.op == "BatchNormalization" && node.inputs.size() > variance_input &&
            node.inputs[variance_input] == value)
            return true;
    }
    return false;
}

Tensor random_weight(const Shape& shape, bool variance, double middle, uint64_t seed) {
    if (shape.rank() >= 2) {
        const auto fan_in = static_cast<double>(shape.elements(1, shape.rank()));
        return random_tensor(ElementType::f32, shape, seed, std::sqrt(2 / fan_in));
    }
    Tensor tensor = random_tensor(ElementType::f32, shape, seed, 0.1);
    Rng rng(seed);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, variance ? 0.5 + rng.unit() : middle + tensor.at(i));
    return tensor;
}

}  // namespace

Graph with_random_weights(Graph graph, uint64_t seed) {
    for (NodeId id = 0; id < graph.node_count(); ++id) {
        const Node& node = graph.node(id);
        const Tensor* shape = node.op == "ConstantOfShape" ? graph.constant(node.inputs[0]) : nullptr;
        if (shape == nullptr) continue;
        const ValueId value = node.outputs[0];
        const Tensor* filled = node.attributes.tensor("value");
        const double middle = filled != nullptr && filled->at(0) != 0 ? 1 : 0;
        const Tensor weight = random_weight(Shape(shape->to_int64()), is_variance(graph, value), middle,
                                            seed ^ hash_text(graph.value(value).name).low);
        graph.erase_node(id);
        graph.value(value).constant = weight;
        graph.value(value).type = ElementType::f32;
        graph.value(value).set_shape(weight.shape());
    }
    return graph;
}

}  // namespace headway::conformance
