#include <cmath>
#include <numbers>

#include "ops/arguments.h"
#include "ops/doubles.h"
#include "ops/rows.h"

namespace headway {
namespace {

struct FourierValue {
    double real = 0, imaginary = 0;
};

// The reference takes the square of it in time.
constexpr int64_t longest_transform = int64_t{1} << 20;

// exp(-2 pi i k / length) for every k, from which every factor of a transform is taken.
class FourierFactors {
public:
    explicit FourierFactors(int64_t length) {
        for (int64_t k = 0; k < length; ++k) {
            const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
            factors_.push_back({std::cos(angle), -std::sin(angle)});
        }
    }
    int64_t length() const { return static_cast<int64_t>(factors_.size()); }

    // Bin k of the transform of x, which is continued by zeros to the full length: the sum of x[n] exp(-2 pi i k n /
    // length), or of its conjugate factors.
    FourierValue bin(const std::vector<FourierValue>& x, int64_t k, bool conjugate) const {
        FourierValue sum;
        int64_t at = 0;
        for (const FourierValue& value : x) {
            const FourierValue factor = factors_[static_cast<size_t>(at)];
            const double imaginary = conjugate ? -factor.imaginary : factor.imaginary;
            sum.real += value.real * factor.real - value.imaginary * imaginary;
            sum.imaginary += value.real * imaginary + value.imaginary * factor.real;
            at = (at + k) % length();
        }
        return sum;
    }

private:
    std::vector<FourierValue> factors_;
};

int64_t checked_transform(int64_t length) {
    if (length < 1) throw UserError("a transform of " + std::to_string(length) + " values does not exist");
    if (length > longest_transform) throw Unsupported("a transform of " + std::to_string(length) + " values");
    return length;
}

struct DftRule {
    size_t axis = 0;
    int64_t length = 0;  // of the transform
    bool onesided = false, inverse = false;

    int64_t bins() const { return onesided && !inverse ? length / 2 + 1 : length; }
    int64_t parts() const { return onesided && inverse ? 1 : 2; }
};

// operand(i) gives input i or nullptr.
template <class Operand>
DftRule dft_rule(const Attributes& attributes, int version, const Shape& shape, Operand&& operand) {
    if (shape.rank() < 2 || (shape.back() != 1 && shape.back() != 2))
        throw UserError("the last axis of its input has neither 1 nor 2 elements");
    DftRule rule;
    rule.onesided = attributes.integer("onesided", 0) != 0;
    rule.inverse = attributes.integer("inverse", 0) != 0;
    if (rule.onesided && shape.back() != (rule.inverse ? 2 : 1))
        throw UserError(rule.inverse ? "an inverse one-sided transform needs complex input"
                                     : "a one-sided transform needs real input");
    int64_t axis = version < 20 ? attributes.integer("axis", 1) : -2;
    const Tensor* given = version < 20 ? nullptr : operand(2);
    if (given != nullptr) {
        scalar_of(*given, "axis");
        axis = given->to_int64()[0];
    }
    rule.axis = static_cast<size_t>(normalized_axis(axis, shape.rank()));
    if (rule.axis + 1 == shape.rank()) throw UserError("its axis is that of real and imaginary parts");
    rule.length = rule.onesided && rule.inverse ? 2 * (shape[rule.axis] - 1) : shape[rule.axis];
    if (const Tensor* length = operand(1)) {
        scalar_of(*length, "dft_length");
        rule.length = length->to_int64()[0];
    }
    checked_transform(rule.length);
    return rule;
}

void infer_dft(InferContext& context) {
    Shape shape = context.shape(0);
    const DftRule rule = dft_rule(context.attributes(), context.version(), shape, [&](size_t i) {
        return context.has(i) ? &context.required(i, i == 1 ? "dft_length" : "axis") : nullptr;
    });
    shape[rule.axis] = rule.bins();
    shape[shape.rank() - 1] = rule.parts();
    context.set_output(0, context.type(0), std::move(shape));
}

// One line of a transform; the real result of an inverse one-sided one stands in the real parts.
std::vector<FourierValue> dft_line(std::vector<FourierValue> x, const DftRule& rule, const FourierFactors& factors) {
    const bool mirrored = rule.onesided && rule.inverse;
    const int64_t given = mirrored ? rule.length / 2 + 1 : rule.length;
    if (static_cast<int64_t>(x.size()) > given) x.resize(static_cast<size_t>(given));
    if (mirrored) {
        // The bins above the middle are the conjugates of those below; bin 0 and the middle one are their own, hence
        // real.
        x.resize(static_cast<size_t>(rule.length));
        x[0].imaginary = 0;
        if (rule.length % 2 == 0) x[static_cast<size_t>(rule.length / 2)].imaginary = 0;
        for (int64_t k = given; k < rule.length; ++k) {
            const FourierValue& below = x[static_cast<size_t>(rule.length - k)];
            x[static_cast<size_t>(k)] = {below.real, -below.imaginary};
        }
    }
    std::vector<FourierValue> y;
    const double divisor = rule.inverse ? static_cast<double>(rule.length) : 1;
    for (int64_t k = 0; k < rule.bins(); ++k) {
        const FourierValue sum = factors.bin(x, k, rule.inverse);
        y.push_back({sum.real / divisor, sum.imaginary / divisor});
    }
    return y;
}

void dft_reference(const ReferenceContext& context) {
    const Shape& shape = context.in(0).shape();
    const DftRule rule = dft_rule(context.attributes, context.version, shape,
                                  [&](size_t i) { return context.has(i) ? &context.in(i) : nullptr; });
    const FourierFactors factors(rule.length);
    const Lines lines = Lines::along(shape, rule.axis);
    const int64_t parts = shape.back();
    const int64_t step = lines.inner / parts;  // elements, of one or two parts, between those of a line
    const std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> y = zeros(context.out(0).elements());
    for (int64_t outer = 0; outer < lines.outer; ++outer)
        for (int64_t inner = 0; inner < step; ++inner) {
            std::vector<FourierValue> line;
            for (int64_t i = 0; i < lines.length; ++i) {
                const double* from = x.data() + ((outer * lines.length + i) * step + inner) * parts;
                line.push_back({from[0], parts == 2 ? from[1] : 0});
            }
            const std::vector<FourierValue> result = dft_line(std::move(line), rule, factors);
            for (int64_t k = 0; k < rule.bins(); ++k) {
                double* to = y.data() + ((outer * rule.bins() + k) * step + inner) * rule.parts();
                to[0] = result[static_cast<size_t>(k)].real;
                if (rule.parts() == 2) to[1] = result[static_cast<size_t>(k)].imaginary;
            }
        }
    store_doubles(y, context.out(0));
}

struct StftRule {
    int64_t samples = 0, parts = 1;  // of the signal
    int64_t step = 1, length = 0;    // of the frames
    bool onesided = true;

    int64_t frames() const { return (samples - length) / step + 1; }
    int64_t bins() const { return onesided ? length / 2 + 1 : length; }
};

// operand(i) gives input i or nullptr; of the window only the shape is read.
template <class Operand>
StftRule stft_rule(const Attributes& attributes, const Shape& signal, const Shape* window, Operand&& operand) {
    StftRule rule;
    // A signal of two axes is a real one without an axis of one part; exporters write it so.
    if (signal.rank() != 2 && (signal.rank() != 3 || (signal.back() != 1 && signal.back() != 2)))
        throw UserError("a signal of " + signal.text() + " does not fit");
    rule.samples = signal[1];
    rule.parts = signal.rank() == 3 ? signal.back() : 1;
    rule.onesided = attributes.integer("onesided", 1) != 0;
    if (rule.onesided && rule.parts == 2) throw UserError("a one-sided transform needs a real signal");
    const Tensor& step = *operand(1);
    scalar_of(step, "frame_step");
    rule.step = step.to_int64()[0];
    if (rule.step < 1) throw UserError("frame_step is not positive");
    if (window != nullptr) {
        if (window->rank() != 1) throw UserError("its window is no vector");
        rule.length = (*window)[0];
    }
    if (const Tensor* length = operand(3)) {
        scalar_of(*length, "frame_length");
        rule.length = length->to_int64()[0];
        if (window != nullptr && rule.length != (*window)[0])
            throw Unsupported("a window of " + window->text() + " and a frame_length of " +
                              std::to_string(rule.length) + " are not supported together");
    } else if (window == nullptr) {
        throw UserError("has neither window nor frame_length");
    }
    checked_transform(rule.length);
    if (rule.length > rule.samples) throw UserError("its frames are longer than its signal");
    return rule;
}

void infer_stft(InferContext& context) {
    if (context.has(2) && context.type(2) != context.type(0)) throw UserError("its signal and window differ in type");
    const Shape& signal = context.shape(0);
    const StftRule rule =
        stft_rule(context.attributes(), signal, context.has(2) ? &context.shape(2) : nullptr, [&](size_t i) {
            return context.has(i) ? &context.required(i, i == 1 ? "frame_step" : "frame_length") : nullptr;
        });
    context.set_output(0, context.type(0), Shape{signal[0], rule.frames(), rule.bins(), 2});
}

void stft_reference(const ReferenceContext& context) {
    const Shape& signal = context.in(0).shape();
    const StftRule rule = stft_rule(context.attributes, signal, context.has(2) ? &context.in(2).shape() : nullptr,
                                    [&](size_t i) { return context.has(i) ? &context.in(i) : nullptr; });
    const FourierFactors factors(rule.length);
    const std::vector<double> x = doubles_of(context.in(0));
    const std::vector<double> window =
        context.has(2) ? doubles_of(context.in(2)) : std::vector<double>(static_cast<size_t>(rule.length), 1);
    std::vector<double> y;
    y.reserve(static_cast<size_t>(context.out(0).elements()));
    std::vector<FourierValue> frame(static_cast<size_t>(rule.length));
    for (int64_t image = 0; image < signal[0]; ++image)
        for (int64_t f = 0; f < rule.frames(); ++f) {
            for (int64_t i = 0; i < rule.length; ++i) {
                const double* from = x.data() + (image * rule.samples + f * rule.step + i) * rule.parts;
                const double weight = window[static_cast<size_t>(i)];
                frame[static_cast<size_t>(i)] = {from[0] * weight, rule.parts == 2 ? from[1] * weight : 0};
            }
            for (int64_t k = 0; k < rule.bins(); ++k) {
                const FourierValue bin = factors.bin(frame, k, false);
                y.push_back(bin.real);
                y.push_back(bin.imaginary);
            }
        }
    store_doubles(y, context.out(0));
}

}  // namespace

const Op dft_op{{
    .name = "DFT",
    .since = {17, 20},
    .inputs = {1, 3},
    .types = float_types,
    .attributes = {{"axis", "int", "1", "the axis to transform (an input from opset 20, by default the last but one)"},
                   {"inverse", "int", "0", "1: the inverse transform, which divides by the length"},
                   {"onesided", "int", "0",
                    "1: of real data, only the bins up to the middle are written (or, of the "
                    "inverse, read)"}},
    .infer = infer_dft,
    .reference = dft_reference,
    .help = "Discrete Fourier transform along an axis, cut or continued by zeros to dft_length; the last axis holds "
            "real and imaginary parts.",
}};

const Op stft_op{{
    .name = "STFT",
    .since = {17},
    .inputs = {2, 4},
    .types = float_types,
    .attributes = {{"onesided", "int", "1", "1: only the bins up to the middle"}},
    .infer = infer_stft,
    .reference = stft_reference,
    .help = "Discrete Fourier transforms of the frames of a signal, each multiplied by the window.",
}};

}  // namespace headway
