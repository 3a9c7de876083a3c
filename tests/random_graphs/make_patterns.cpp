// Random pieces of networks that rewrites look for, in several spellings, and the shapes of graphs that trip them.
#include <algorithm>
#include <cmath>

#include "maker.h"

namespace headway::testing {
namespace {

ValueId in_any_order(Maker& maker, std::string_view op, ValueId a, ValueId b) {
    return maker.rng.coin() ? maker.one(op, {a, b}) : maker.one(op, {b, a});
}

void spelled_layer_norm(Maker& maker, ValueId x) {
    const Shape shape = maker.shape(x);
    const auto axis = static_cast<int64_t>(shape.rank()) - 1;
    const auto mean = [&](ValueId value) {
        return maker.one("ReduceMean", {value}, {{"axes", std::vector<int64_t>{axis}}});
    };
    const ValueId centred = maker.one("Sub", {x, mean(x)});
    const ValueId square =
        maker.rng.coin() ? maker.one("Mul", {centred, centred}) : maker.one("Pow", {centred, maker.scalar(2)});
    const ValueId root = maker.one("Sqrt", {in_any_order(maker, "Add", mean(square), maker.scalar(1e-2F))});
    ValueId y = maker.rng.coin() ? maker.one("Div", {centred, root})
                                 : in_any_order(maker, "Mul", centred, maker.one("Reciprocal", {root}));
    // Now and then a scale of another axis than the normalised one.
    if (maker.rng.coin())
        y = in_any_order(maker, "Mul", y,
                         maker.floats(maker.rng.chance(0.7) ? Shape{shape.back()} : maker.broadcast_part(shape)));
    if (maker.rng.coin()) in_any_order(maker, "Add", y, maker.floats({shape.back()}));
}

void spelled_gelu(Maker& maker, ValueId x) {
    const float root = maker.rng.chance(0.8) ? 1.41421356F : 1.5F;
    const ValueId scaled = maker.rng.coin() ? maker.one("Div", {x, maker.scalar(root)})
                                            : in_any_order(maker, "Mul", x, maker.scalar(1 / root));
    const ValueId half = in_any_order(maker, "Add", maker.one("Erf", {scaled}), maker.scalar(1));
    if (maker.rng.coin())
        in_any_order(maker, "Mul", in_any_order(maker, "Mul", x, half), maker.scalar(0.5F));
    else
        in_any_order(maker, "Mul", in_any_order(maker, "Mul", x, maker.scalar(0.5F)), half);
}

void spelled_hard_swish(Maker& maker, ValueId x) {
    const ValueId shifted = in_any_order(maker, "Add", x, maker.scalar(3));
    const ValueId clipped =
        maker.one("Clip", {shifted, maker.scalar(0), maker.scalar(maker.rng.chance(0.8) ? 6.0F : 5.0F)});
    if (maker.rng.coin())
        in_any_order(maker, "Mul", x, maker.one("Div", {clipped, maker.scalar(6)}));
    else
        maker.one("Div", {in_any_order(maker, "Mul", x, clipped), maker.scalar(6)});
}

// What a branch of an If computes from a captured value: its own constants may carry names of the graph around it.
Graph branch_on(Maker& maker, ValueId captured, std::string_view op, float number) {
    Graph branch;
    const Value& outer = maker.graph.value(captured);
    const ValueId x = branch.add_value(outer.name, outer.type);
    branch.value(x).set_shape(outer.shape());
    const ValueId w = branch.add_constant("w", Tensor::scalar(number));
    const ValueId y = branch.add_value("branch_result");
    Node node;
    node.op = op;
    node.version = 17;
    node.inputs = {x, w};
    node.outputs = {y};
    node.origins = {"inner"};
    infer_node(branch, branch.add_node(std::move(node)), maker.ops());
    branch.outputs = {maker.rng.chance(0.2) ? x : y};
    return branch;
}

}  // namespace

void make_spelled(Maker& maker) {
    const auto x = maker.pick(
        [&](ValueId id) { return maker.is_f32(id) && maker.shape(id).rank() > 0 && maker.shape(id).elements() > 0; });
    if (!x) return;
    switch (maker.rng.below(maker.special() ? 2 : 3)) {
        case 0:
            return spelled_gelu(maker, *x);
        case 1:
            return spelled_hard_swish(maker, *x);
        default:
            return spelled_layer_norm(maker, *x);
    }
}

void make_residual(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick(
        [&](ValueId id) { return maker.is_f32(id) && maker.shape(id).rank() == 4 && maker.shape(id).elements() > 0; });
    if (!x) return;
    const int64_t channels = maker.shape(*x)[1];
    const int64_t group = maker.rng.chance(0.3) ? channels : 1, kernel = maker.rng.coin() ? 3 : 1;
    const double deviation = 1 / std::sqrt(static_cast<double>(channels / group * kernel * kernel));
    ValueId y = maker
                    .add("Conv", {*x, maker.floats({channels, channels / group, kernel, kernel}, deviation)},
                         {{"pads", std::vector<int64_t>(4, kernel / 2)}, {"group", group}})
                    .front();
    if (maker.rng.coin())
        y = maker
                .add("BatchNormalization", {y, maker.floats({channels}), maker.floats({channels}),
                                            maker.floats({channels}), maker.positive({channels})})
                .front();
    else
        y = in_any_order(maker, "Add", y, maker.floats({channels, 1, 1}));
    if (maker.rng.coin()) y = maker.one("Relu", {y});
    if (maker.rng.coin()) y = in_any_order(maker, "Add", y, *x);
    if (maker.rng.coin()) y = maker.one(maker.any_word({"Relu", "Sigmoid", "HardSwish"}), {y});
    if (maker.rng.chance(0.3))
        in_any_order(maker, "Mul", y, maker.one("Sigmoid", {maker.one("GlobalAveragePool", {y})}));
}

namespace {

struct Projections {
    ValueId q, k, v;  // batch x heads x length x width, keys turned
};

ValueId projected(Maker& maker, ValueId x, int64_t width) {
    const int64_t rows = maker.shape(x)[2];
    const ValueId y = maker.one("MatMul", {x, maker.floats({rows, width}, 1 / std::sqrt(static_cast<double>(rows)))});
    return maker.rng.coin() ? in_any_order(maker, "Add", y, maker.floats({width})) : y;
}

Projections separate_projections(Maker& maker, ValueId x, int64_t heads, int64_t width) {
    const auto head = [&](const std::vector<int64_t>& order) {
        const ValueId y =
            maker.one("Reshape", {projected(maker, x, heads * width), maker.integers({0, 0, heads, width})});
        return maker.one("Transpose", {y}, {{"perm", order}});
    };
    return {head({0, 2, 1, 3}), head({0, 2, 3, 1}), head({0, 2, 1, 3})};
}

Projections one_projection(Maker& maker, ValueId x, int64_t heads, int64_t width) {
    const ValueId whole =
        maker.one("Reshape", {projected(maker, x, 3 * heads * width), maker.integers({0, 0, 3, heads, width})});
    const ValueId turned = maker.one("Transpose", {whole}, {{"perm", std::vector<int64_t>{2, 0, 3, 1, 4}}});
    const auto part = [&](int64_t index) {
        return maker.rng.coin()
                   ? maker.one("Gather", {turned, maker.constant(Tensor::scalar(index))}, {{"axis", int64_t{0}}})
                   : maker.one("Squeeze", {maker.one("Slice", {turned, maker.integers({index}),
                                                               maker.integers({index + 1}), maker.integers({0})}),
                                           maker.integers({0})});
    };
    const ValueId k = maker.one("Transpose", {part(1)}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
    return {part(0), k, part(2)};
}

}  // namespace

void make_attention(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() == 3 && shape.elements() > 0 && shape[1] <= 32;
    });
    if (!x) return;
    const int64_t length = maker.shape(*x)[1];
    const int64_t heads = maker.between(1, 3), width = maker.any_of(std::vector<int64_t>{1, 4, 8, 17});
    Projections parts =
        maker.rng.coin() ? separate_projections(maker, *x, heads, width) : one_projection(maker, *x, heads, width);
    const float root = std::sqrt(static_cast<float>(width));
    const bool scales_queries = maker.rng.coin();
    if (scales_queries) parts.q = in_any_order(maker, "Mul", parts.q, maker.scalar(1 / root));
    ValueId scores = maker.one("MatMul", {parts.q, parts.k});
    if (!scales_queries) scores = maker.one("Div", {scores, maker.scalar(root)});
    if (maker.rng.coin())
        scores = in_any_order(
            maker, "Add", scores,
            maker.floats(maker.any_of(std::vector<Shape>{{length}, {length, length}, {1, heads, length, length}})));
    const ValueId mixed = maker.one("MatMul", {maker.one("Softmax", {scores}, {{"axis", int64_t{-1}}}), parts.v});
    maker.one("Reshape", {maker.one("Transpose", {mixed}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}),
                          maker.integers({0, 0, heads * width})});
}

void make_identity(Maker& maker) {
    const auto x = maker.pick_f32();
    if (!x) return;
    switch (maker.rng.below(4)) {
        case 0:
            maker.add("Dropout", {*x}, {}, 1, {}, 13);
            return;
        case 1:
            maker.one(maker.any_word({"Mul", "Div"}), {*x, maker.scalar(1)});
            return;
        case 2:
            maker.one("Sub", {*x, maker.scalar(0)});
            return;
        default:
            maker.one("Identity", {*x});
    }
}

void make_duplicate(Maker& maker) {
    if (maker.graph.node_count() == 0) return;
    const Node& chosen =
        maker.graph.node(static_cast<NodeId>(maker.rng.below(static_cast<uint64_t>(maker.graph.node_count()))));
    if (!chosen.subgraphs.empty()) return;
    Node copy = chosen;
    for (ValueId& output : copy.outputs) {
        if (output == no_value) continue;
        const Value original = maker.graph.value(output);
        output = maker.graph.add_fresh_value("d", original.type);
        maker.graph.value(output).dims = original.dims;
    }
    maker.add(std::move(copy));
}

void make_constant_chain(Maker& maker) {
    ValueId c = maker.floats(maker.random_shape(static_cast<size_t>(maker.between(0, 4))));
    for (int64_t k = maker.between(1, 3); k > 0; --k)
        c = maker.rng.coin() ? maker.one(maker.any_word({"Relu", "Neg", "Tanh", "Abs"}), {c})
                             : in_any_order(maker, maker.any_word({"Add", "Mul"}), c,
                                            maker.floats(maker.broadcast_part(maker.shape(c))));
}

void make_branch(Maker& maker) {
    const auto x = maker.pick_f32();
    if (!x) return;
    ValueId condition = no_value;
    if (maker.rng.coin()) {
        condition = maker.constant(Tensor::scalar(maker.rng.coin()));
    } else {
        // Known once the shapes are.
        const ValueId size = maker.one("Size", {*x});
        condition = maker.one("Greater", {size, maker.constant(Tensor::scalar(int64_t{20}))});
    }
    Node node;
    node.op = "If";
    node.version = 16;
    node.inputs = {condition};
    const ValueId y = maker.graph.add_fresh_value("if", ElementType::f32);
    maker.graph.value(y).set_shape(maker.shape(*x));
    node.outputs = {y};
    node.subgraphs.push_back({"then_branch", std::make_shared<Graph>(branch_on(maker, *x, "Mul", 2))});
    node.subgraphs.push_back({"else_branch", std::make_shared<Graph>(branch_on(maker, *x, "Add", -1))});
    maker.add(std::move(node));
}

void make_shape_chain(Maker& maker) {
    const auto x = maker.pick(
        [&](ValueId id) { return maker.is_f32(id) && maker.shape(id).rank() > 1 && maker.shape(id).elements() > 0; });
    if (!x) return;
    const ValueId shape = maker.one("Shape", {*x});
    const ValueId first = maker.one("Gather", {shape, maker.integers({0})}, {{"axis", int64_t{0}}});
    const ValueId target = maker.one("Concat", {first, maker.integers({-1})}, {{"axis", int64_t{0}}});
    const Shape given = maker.shape(*x), wanted{given[0], given.elements(1, given.rank())};
    const ValueId y = maker.add_stated("Reshape", {*x, target}, wanted);
    if (maker.rng.coin()) return;
    const Tensor number = Tensor::of<float>({1}, std::vector<float>{1.5F});
    const ValueId same = maker.add_stated("ConstantOfShape", {maker.one("Shape", {y})}, wanted, {{"value", number}});
    in_any_order(maker, "Add", y, same);
}

}  // namespace headway::testing
