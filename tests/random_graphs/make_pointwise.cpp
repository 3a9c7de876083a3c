// Random nodes that work element by element.
#include "maker.h"

namespace headway::testing {
namespace {

// A second operand that does not enlarge the result: a constant, now and then a neutral one, or another value.
ValueId operand_for(Maker& maker, ValueId x, bool positive) {
    const Shape shape = maker.shape(x);
    if (!positive && maker.rng.chance(0.4)) {
        const auto other = maker.pick([&](ValueId id) {
            if (!maker.is_f32(id) || maker.shape(id).rank() > shape.rank()) return false;
            const size_t skip = shape.rank() - maker.shape(id).rank();
            for (size_t axis = 0; axis < maker.shape(id).rank(); ++axis)
                if (maker.shape(id)[axis] != 1 && maker.shape(id)[axis] != shape[axis + skip]) return false;
            return true;
        });
        if (other) return *other;
    }
    const Shape part = maker.broadcast_part(shape);
    if (positive) return maker.positive(part);
    if (maker.rng.chance(0.1)) {
        Tensor tensor(ElementType::f32, part);
        const double neutral = maker.rng.coin() ? 1 : 0;
        for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, neutral);
        return maker.constant(std::move(tensor));
    }
    return maker.floats(part);
}

}  // namespace

void make_unary(Maker& maker) {
    const auto x = maker.pick_f32();
    if (!x) return;
    const auto alpha = static_cast<float>(0.1 + maker.rng.unit());
    switch (maker.rng.below(22)) {
        case 0:
        case 1:
        case 2:
            maker.one("Relu", {*x});
            return;
        case 3:
            maker.one("Neg", {*x});
            return;
        case 4:
            maker.one("Abs", {*x});
            return;
        case 5:
        case 6:
            maker.one("Sigmoid", {*x});
            return;
        case 7:
        case 8:
            maker.one("Tanh", {*x});
            return;
        case 9:
            maker.one("Exp", {maker.one("Clip", {*x, maker.scalar(-20), maker.scalar(4)})});
            return;
        case 10:
            maker.one("Erf", {*x});
            return;
        case 11:
            maker.one("Softplus", {*x});
            return;
        case 12:
            maker.one("Elu", {*x}, {{"alpha", alpha}});
            return;
        case 13:
            maker.one("LeakyRelu", {*x}, {{"alpha", alpha}});
            return;
        case 14:
            maker.one("HardSigmoid", {*x}, {{"alpha", alpha}, {"beta", 0.5F}});
            return;
        case 15:
            maker.one("HardSwish", {*x});
            return;
        case 16:
            maker.one("Gelu", {*x}, {{"approximate", std::string(maker.rng.coin() ? "none" : "tanh")}}, 20);
            return;
        case 17:
            maker.one("Mish", {*x}, {}, 18);
            return;
        case 18: {
            const ValueId low = maker.rng.chance(0.2) ? no_value : maker.scalar(static_cast<float>(-maker.rng.unit()));
            maker.one("Clip", {*x, low, maker.scalar(static_cast<float>(3 * maker.rng.unit()))});
            return;
        }
        case 19: {
            const ValueId size = maker.one("Add", {maker.one("Abs", {*x}), maker.scalar(alpha)});
            maker.one(maker.any_word({"Sqrt", "Log", "Reciprocal"}), {size});
            return;
        }
        case 20:
            maker.one(maker.any_word({"Softsign", "Selu", "Celu", "Sin", "Cos", "Atan", "Asinh"}), {*x});
            return;
        default:
            if (maker.is_exact(*x)) maker.one(maker.any_word({"Floor", "Ceil", "Round", "Sign"}), {*x});
    }
}

void make_binary(Maker& maker) {
    const auto x = maker.pick_f32();
    if (!x) return;
    switch (maker.rng.below(12)) {
        case 0:
            maker.one("Div", {*x, operand_for(maker, *x, true)});
            return;
        case 1:
            maker.one("Pow", {*x, maker.scalar(maker.rng.coin() ? 2.0F : 3.0F)});
            return;
        case 2:
            maker.one("PRelu", {*x, operand_for(maker, *x, true)});
            return;
        case 3:
            if (const auto y =
                    maker.pick([&](ValueId id) { return maker.is_f32(id) && maker.shape(id) == maker.shape(*x); }))
                maker.one(maker.any_word({"Sum", "Mean"}), {*x, *y, *x});
            return;
        default: {
            const ValueId y = operand_for(maker, *x, false);
            const std::string_view op = maker.any_word({"Add", "Add", "Sub", "Mul", "Mul", "Max", "Min"});
            if (maker.rng.coin())
                maker.one(op, {*x, y});
            else
                maker.one(op, {y, *x});
        }
    }
}

void make_choice(Maker& maker) {
    const auto a = maker.pick([&](ValueId id) { return maker.is_f32(id) && maker.is_exact(id); });
    const auto x = maker.pick_f32();
    if (!a || !x) return;
    ValueId chosen = maker.one(maker.any_word({"Less", "Greater", "LessOrEqual", "Equal"}),
                               {*a, maker.floats(maker.broadcast_part(maker.shape(*a)))});
    if (maker.rng.chance(0.3)) chosen = maker.one("Not", {chosen});
    if (maker.shape(*a) == maker.shape(*x))
        maker.one("Where", {chosen, *x, maker.rng.coin() ? *a : maker.floats(maker.broadcast_part(maker.shape(*x)))});
    else
        maker.one("Cast", {chosen}, {{"to", int64_t{1}}});
}

void make_integer(Maker& maker) {
    const auto x = maker.pick([&](ValueId id) { return maker.type(id) == ElementType::i64; });
    if (!x) return;
    Tensor operand(ElementType::i64, maker.broadcast_part(maker.shape(*x)));
    for (int64_t i = 0; i < operand.elements(); ++i) operand.set(i, static_cast<double>(maker.between(1, 5)));
    const ValueId y = maker.constant(std::move(operand));
    const ValueId z = maker.one(maker.any_word({"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min"}), {*x, y});
    if (maker.rng.coin()) maker.one("Cast", {z}, {{"to", int64_t{1}}});
}

void make_cast(Maker& maker) {
    const auto x = maker.pick_f32();
    if (!x) return;
    static const std::vector<int64_t> wide{1, 10, 11, 16}, integers{3, 6, 7, 2};
    if (maker.is_exact(*x) && maker.rng.chance(0.3)) {
        const ValueId bounded = maker.one("Clip", {*x, maker.scalar(0), maker.scalar(100)});
        maker.one("Cast", {bounded}, {{"to", maker.any_of(integers)}});
        return;
    }
    ValueId y = maker.one("Cast", {*x}, {{"to", maker.any_of(wide)}});
    if (maker.type(y) == ElementType::f16 && maker.rng.coin()) y = maker.one("Relu", {y});
    maker.one("Cast", {y}, {{"to", int64_t{1}}});
}

}  // namespace headway::testing
