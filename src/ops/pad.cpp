#include <utility>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/strided.h"
#include "ops/element.h"

namespace headway {
namespace {

struct PadAxis {
    int64_t begin = 0, end = 0;  // negative ones cut
};

template <class Context>
std::vector<PadAxis> pads_of(const Context& context, size_t rank) {
    OptionalIntegers pads = integers_of(context, 1, "pads");
    if (!pads) pads = integers_of(context, 1, "paddings");
    if (!pads) throw UserError("has no pads");
    std::vector<int64_t> axes(rank);
    for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int64_t>(i);
    if (const OptionalIntegers given = integers_of(context, 3, "axes")) axes = normalized_axes(*given, rank);
    require_length(*pads, 2 * axes.size(), "pads");
    std::vector<PadAxis> result(rank);
    for (size_t i = 0; i < axes.size(); ++i)
        result[static_cast<size_t>(axes[i])] = {(*pads)[i], (*pads)[axes.size() + i]};
    return result;
}

int64_t padded_extent(int64_t extent, const PadAxis& pad) {
    constexpr int64_t limit = int64_t{1} << 40;  // far beyond any tensor; keeps the sums below from overflowing
    if (pad.begin < -limit || pad.begin > limit || pad.end < -limit || pad.end > limit)
        throw UserError("padding of " + std::to_string(pad.begin) + " and " + std::to_string(pad.end) +
                        " is too large");
    const int64_t padded = extent + pad.begin + pad.end;
    if (padded < 0) throw UserError("padding cuts more than there is");
    return padded;
}

enum class PadMode { constant, reflect, edge, wrap };

PadMode pad_mode(const Attributes& attributes) {
    const std::string mode = attributes.text("mode", "constant");
    if (mode == "constant") return PadMode::constant;
    if (mode == "reflect") return PadMode::reflect;
    if (mode == "edge") return PadMode::edge;
    if (mode == "wrap") return PadMode::wrap;
    throw UserError("attribute mode has an unknown value");
}

void infer_pad(InferContext& context) {
    Shape shape = context.shape(0);
    const std::vector<PadAxis> pads = pads_of(context, shape.rank());
    const PadMode mode = pad_mode(context.attributes());
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
        const int64_t padded = padded_extent(shape[axis], pads[axis]);
        if (shape[axis] == 0 && padded > 0 && mode != PadMode::constant)
            throw UserError("an empty axis can only be padded with a constant");
        shape[axis] = padded;
    }
    context.set_output(0, context.type(0), shape);
}

int64_t modulo(int64_t value, int64_t length) { return ((value % length) + length) % length; }

// The input position that output position `at` copies; -1: the constant.
int64_t pad_source(int64_t at, int64_t extent, PadMode mode) {
    if (at >= 0 && at < extent) return at;
    switch (mode) {
        case PadMode::constant:
            return -1;
        case PadMode::edge:
            return at < 0 ? 0 : extent - 1;
        case PadMode::wrap:
            return modulo(at, extent);
        case PadMode::reflect:
            break;
    }
    // Reflection without repeating the border has the period 2 * (extent - 1); one element reflects itself.
    if (extent == 1) return 0;
    const int64_t phase = modulo(at, 2 * (extent - 1));
    return phase < extent ? phase : 2 * (extent - 1) - phase;
}

template <class Word>
Word pad_value(const ReferenceContext& context) {
    const ElementType type = context.in(0).type();
    Tensor value(type, Shape{1});
    if (context.has(2)) {
        if (context.in(2).type() != type || context.in(2).elements() != 1)
            throw UserError("constant_value must hold one element of the input's type");
        return stored<Word>(context.in(2))[0];
    }
    value.set(0, context.attributes.real("value", 0.0F));
    return stored<Word>(std::as_const(value))[0];
}

void pad_reference(const ReferenceContext& context) {
    const Shape& from = context.in(0).shape();
    const Shape& to = context.out(0).shape();
    const Strides strides = from.strides();
    const std::vector<PadAxis> pads = pads_of(context, from.rank());
    const PadMode mode = pad_mode(context.attributes);
    // Offsets along each axis, by output position; -1 where the constant stands.
    std::vector<std::vector<int64_t>> offsets(from.rank());
    for (size_t axis = 0; axis < from.rank(); ++axis)
        for (int64_t at = 0; at < to[axis]; ++at) {
            const int64_t source = pad_source(at - pads[axis].begin, from[axis], mode);
            offsets[axis].push_back(source < 0 ? -1 : source * strides[axis]);
        }
    visit_size(context.in(0).type(), [&](auto word) {
        using Word = decltype(word);
        const Word fill = pad_value<Word>(context);
        const Word* x = stored<Word>(context.in(0));
        Word* y = stored<Word>(context.out(0));
        std::vector<int64_t> index(to.rank(), 0);
        for (int64_t i = 0, count = to.elements(); i < count; ++i) {
            int64_t offset = 0;
            for (size_t axis = 0; axis < index.size() && offset >= 0; ++axis) {
                const int64_t part = offsets[axis][static_cast<size_t>(index[axis])];
                offset = part < 0 ? -1 : offset + part;
            }
            y[i] = offset < 0 ? fill : x[offset];
            for (size_t axis = index.size(); axis-- > 0;) {
                if (++index[axis] < to[axis]) break;
                index[axis] = 0;
            }
        }
    });
}

}  // namespace

const Op pad_op{{
    .name = "Pad",
    .since = {1, 2, 11, 13, 18, 19, 21, 23, 24, 25},
    .inputs = {1, 4},
    .types = any_types,
    .attributes = {{"mode", "string", "constant", "constant, reflect, edge or wrap"},
                   {"pads", "ints", "", "added at the begin of each axis, then at the end (an input from opset 11)"},
                   {"paddings", "ints", "", "the name of pads in opset 1"},
                   {"value", "float", "0.0", "the constant (an input from opset 11)"}},
    .infer = infer_pad,
    .reference = pad_reference,
    .data_movement = true,
    .help = "Adds to the ends of axes; negative pads cut. Reflection and wrapping go on as often as needed.",
}};

}  // namespace headway
