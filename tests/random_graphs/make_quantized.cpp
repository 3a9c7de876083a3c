// Random nodes on quantised values: pairs of QuantizeLinear and DequantizeLinear, alone and around linear operators,
// and the operators on integers.
#include <cmath>

#include "maker.h"

namespace headway::testing {
namespace {

ElementType random_byte(Maker& maker) { return maker.rng.coin() ? ElementType::u8 : ElementType::i8; }

ValueId random_bytes(Maker& maker, ElementType type, const Shape& shape) {
    Tensor tensor(type, shape);
    const bool ends = maker.rng.chance(0.2);  // only the ends of the range, where narrow sums saturate
    for (int64_t i = 0; i < tensor.elements(); ++i) {
        const int64_t low = type == ElementType::u8 ? 0 : -128;
        tensor.set(i, static_cast<double>(ends ? (maker.rng.coin() ? low : low + 255) : maker.between(low, low + 255)));
    }
    return maker.constant(std::move(tensor));
}

ValueId zero_point(Maker& maker, ElementType type, const Shape& shape) {
    Tensor tensor(type, shape);
    for (int64_t i = 0; i < tensor.elements(); ++i)
        tensor.set(i, static_cast<double>(type == ElementType::u8 ? maker.between(100, 140) : maker.between(-10, 10)));
    return maker.constant(std::move(tensor));
}

ValueId scales(Maker& maker, const Shape& shape) {
    Tensor tensor(ElementType::f32, shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, 0.01 + 0.05 * maker.rng.unit());
    return maker.constant(std::move(tensor));
}

// Q and DQ of one value; `between` may move the bytes.
ValueId through_bytes(Maker& maker, ValueId x) {
    const ElementType type = random_byte(maker);
    const Shape shape = maker.shape(x);
    const bool per_axis = shape.rank() > 1 && maker.rng.chance(0.4);
    const auto axis = per_axis ? maker.between(0, static_cast<int64_t>(shape.rank()) - 1) : 0;
    const Shape parameters = per_axis ? Shape{shape[static_cast<size_t>(axis)]} : Shape{};
    const ValueId scale = scales(maker, parameters);
    // Without a zero point the type is u8.
    const bool plain = maker.rng.chance(0.2);
    const ValueId zero = plain ? no_value : zero_point(maker, type, parameters);
    ValueId bytes = maker.one("QuantizeLinear", {x, scale, zero}, {{"axis", axis}});
    if (!per_axis && shape.rank() > 1 && maker.rng.chance(0.3)) {
        std::vector<int64_t> order;
        for (size_t i = shape.rank(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
        bytes = maker.one("Transpose", {bytes}, {{"perm", order}});
    }
    return maker.one("DequantizeLinear", {bytes, scale, zero}, {{"axis", axis}});
}

}  // namespace

void make_quantized_pair(Maker& maker) {
    if (maker.special()) return;
    if (const auto x = maker.pick_f32()) through_bytes(maker, *x);
}

// x -> Q -> DQ -> Conv with dequantised weights -> Q -> DQ, as exporters write a quantised network.
void make_quantized_convolution(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() == 4 && shape.elements() > 0 && shape.elements() < 3000;
    });
    if (!x) return;
    const int64_t channels = maker.shape(*x)[1], out = maker.channel_count();
    const int64_t kernel = maker.rng.coin() ? 1 : 3;
    const bool per_channel = maker.rng.coin();
    const Shape parameters = per_channel ? Shape{out} : Shape{};
    const ValueId input = through_bytes(maker, *x);
    if (maker.shape(input)[1] != channels) return;
    const ElementType type = maker.rng.chance(0.8) ? ElementType::i8 : ElementType::u8;
    const ValueId weights =
        maker.one("DequantizeLinear",
                  {random_bytes(maker, type, {out, channels, kernel, kernel}), scales(maker, parameters),
                   maker.rng.coin() ? zero_point(maker, type, parameters) : no_value},
                  {{"axis", int64_t{0}}});
    std::vector<ValueId> inputs{input, weights};
    if (maker.rng.coin()) inputs.push_back(maker.floats({out}));
    const ValueId y = maker.add("Conv", inputs, {{"pads", std::vector<int64_t>(4, kernel / 2)}}).front();
    const ValueId activated = maker.rng.coin() ? maker.one("Relu", {y}) : y;
    if (maker.rng.chance(0.7)) through_bytes(maker, activated);
}

// The same on the bytes themselves.
void make_integer_convolution(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick([&](ValueId id) {
        const Shape shape = maker.shape(id);
        return maker.is_f32(id) && shape.rank() == 4 && shape.elements() > 0 && shape.elements() < 2000;
    });
    if (!x) return;
    const int64_t channels = maker.shape(*x)[1], out = maker.channel_count(), kernel = maker.rng.coin() ? 1 : 3;
    const ElementType x_type = random_byte(maker), w_type = random_byte(maker), y_type = x_type;
    const ValueId x_scale = scales(maker, {}), x_zero = zero_point(maker, x_type, {});
    const ValueId bytes = maker.one("QuantizeLinear", {*x, x_scale, x_zero});
    const ValueId w = random_bytes(maker, w_type, {out, channels, kernel, kernel});
    const std::vector<int64_t> pads(4, kernel / 2);
    if (maker.rng.coin()) {
        const ValueId w_zero = zero_point(maker, w_type, {});
        const ValueId sums = maker.one("ConvInteger", {bytes, w, x_zero, w_zero}, {{"pads", pads}}, 10);
        maker.one("Mul", {maker.one("Cast", {sums}, {{"to", int64_t{1}}}), scales(maker, {out, 1, 1})});
        return;
    }
    const Shape parameters = maker.rng.coin() ? Shape{out} : Shape{};
    const ValueId y_scale = maker.scalar(2.5F), y_zero = zero_point(maker, y_type, {});
    const ValueId w_scale = scales(maker, parameters), w_zero = maker.constant(Tensor(w_type, parameters));
    const ValueId y =
        maker.one("QLinearConv", {bytes, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero}, {{"pads", pads}}, 10);
    maker.one("DequantizeLinear", {y, y_scale, y_zero});
}

void make_quantized_product(Maker& maker) {
    if (maker.special()) return;
    const auto x = maker.pick_f32(2, 3);
    if (!x || maker.shape(*x).elements() == 0) return;
    const int64_t depth = maker.shape(*x).back(), columns = maker.channel_count();
    const ElementType a_type = random_byte(maker), b_type = random_byte(maker);
    const ValueId scale = scales(maker, {}), a_zero = zero_point(maker, a_type, {});
    const ValueId a = maker.one("QuantizeLinear", {*x, scale, a_zero});
    const ValueId b = random_bytes(maker, b_type, {depth, columns});
    const ValueId b_zero = zero_point(maker, b_type, {});
    if (maker.rng.coin()) {
        const ValueId sums = maker.one("MatMulInteger", {a, b, a_zero, b_zero}, {}, 10);
        maker.one("Mul", {maker.one("Cast", {sums}, {{"to", int64_t{1}}}), scales(maker, {})});
        return;
    }
    const ElementType y_type = random_byte(maker);
    const ValueId y_scale = maker.scalar(2.5F), y_zero = zero_point(maker, y_type, {});
    const ValueId y =
        maker.one("QLinearMatMul", {a, scale, a_zero, b, scales(maker, {}), b_zero, y_scale, y_zero}, {}, 10);
    maker.one("DequantizeLinear", {y, y_scale, y_zero});
}

}  // namespace headway::testing
