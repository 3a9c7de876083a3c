#include "maker.h"

#include <algorithm>

#include "rounding.h"
#include "tensor/random.h"

namespace headway::testing {

ValueId Maker::input(ElementType type, const Shape& shape) {
    const ValueId id = graph.add_value("x" + std::to_string(names_++), type);
    graph.value(id).set_shape(shape);
    graph.inputs.push_back(id);
    exact_.resize(static_cast<size_t>(graph.value_count()), true);
    pool_.push_back(id);
    return id;
}

ValueId Maker::constant(Tensor tensor) {
    const ValueId id = graph.add_value("c" + std::to_string(names_++), tensor.type());
    graph.value(id).set_shape(tensor.shape());
    graph.value(id).constant = std::move(tensor);
    exact_.resize(static_cast<size_t>(graph.value_count()), true);
    return id;
}

ValueId Maker::floats(const Shape& shape, double deviation) {
    return constant(random_tensor(ElementType::f32, shape, rng.next(), deviation));
}

ValueId Maker::positive(const Shape& shape) {
    Tensor tensor(ElementType::f32, shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, 0.5 + rng.unit());
    return constant(std::move(tensor));
}

ValueId Maker::integers(const std::vector<int64_t>& values) {
    return constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

std::optional<ValueId> Maker::pick(const std::function<bool(ValueId)>& fits) {
    std::vector<ValueId> found;
    for (ValueId id : pool_)
        if (shape(id).elements() <= most_elements && fits(id)) found.push_back(id);
    if (found.empty()) return std::nullopt;
    // The larger of two draws: chains grow, but early values get more readers too.
    return found[static_cast<size_t>(std::max(rng.below(found.size()), rng.below(found.size())))];
}

std::optional<ValueId> Maker::pick_f32(size_t least_rank, size_t most_rank) {
    return pick([&](ValueId id) {
        const size_t rank = shape(id).rank();
        return is_f32(id) && rank >= least_rank && rank <= most_rank;
    });
}

std::vector<ValueId> Maker::add(std::string_view op, std::vector<ValueId> inputs, NamedAttributes attributes,
                                size_t outputs, const std::vector<size_t>& absent, int version) {
    Node node;
    node.op = op;
    node.version = version;
    node.inputs = std::move(inputs);
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    for (size_t i = 0; i < outputs; ++i)
        node.outputs.push_back(std::ranges::count(absent, i) > 0 ? no_value
                                                                 : graph.add_value("v" + std::to_string(names_++)));
    return add(std::move(node));
}

std::vector<ValueId> Maker::add(Node node) {
    node.origins = {node.op + "_" + std::to_string(graph.node_count())};
    const bool exact =
        is_exact_op(node.op, type(node.inputs[0])) && std::ranges::all_of(node.inputs, [&](ValueId input) {
            return input == no_value || is_exact(input) || reads_no_elements(node.op);
        });
    const bool stated = std::ranges::any_of(
        node.outputs, [&](ValueId output) { return output != no_value && graph.value(output).has_static_shape(); });
    const NodeId id = graph.add_node(std::move(node));
    if (!stated) infer_node(graph, id, ops_);
    exact_.resize(static_cast<size_t>(graph.value_count()), false);
    std::vector<ValueId> made;
    for (ValueId output : graph.node(id).outputs) {
        if (output == no_value) continue;
        exact_[static_cast<size_t>(output)] = exact;
        pool_.push_back(output);
        made.push_back(output);
    }
    return made;
}

ValueId Maker::add_stated(std::string_view op, std::vector<ValueId> inputs, const Shape& shape,
                          NamedAttributes attributes) {
    Node node;
    node.op = op;
    node.version = 17;
    node.inputs = std::move(inputs);
    for (const auto& [name, value] : attributes) node.attributes.set(name, value);
    const ValueId output = graph.add_value("v" + std::to_string(names_++), ElementType::f32);
    graph.value(output).set_shape(shape);
    node.outputs = {output};
    return add(std::move(node)).front();
}

int64_t Maker::extent() {
    static const std::vector<int64_t> extents{1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17};
    return rng.chance(0.02) ? 0 : any_of(extents);
}

int64_t Maker::channel_count() {
    static const std::vector<int64_t> counts{1, 2, 3, 4, 8, 15, 16, 17, 24, 32, 33};
    return any_of(counts);
}

Shape Maker::random_shape(size_t rank) {
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < rank; ++axis) dims.push_back(extent());
    if (rank >= 3) dims[0] = rng.chance(0.7) ? 1 : between(1, 3);
    if (rank >= 3) dims[1] = channel_count();
    Shape shape(std::move(dims));
    while (shape.elements() > most_elements) {
        auto& longest = *std::ranges::max_element(shape.dims(), {}, [](int64_t extent) { return extent; });
        shape[static_cast<size_t>(&longest - shape.dims().data())] = std::max<int64_t>(1, longest / 2);
    }
    return shape;
}

Shape Maker::broadcast_part(const Shape& shape) {
    const auto keep = static_cast<size_t>(between(0, static_cast<int64_t>(shape.rank())));
    std::vector<int64_t> dims(shape.dims().end() - static_cast<std::ptrdiff_t>(keep), shape.dims().end());
    for (int64_t& extent : dims)
        if (rng.coin()) extent = 1;
    return Shape(std::move(dims));
}

}  // namespace headway::testing
