#include "kernels/cpu/integer/linear_quantize.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/checked.h"
#include "kernels/cpu/integer/product.h"

namespace headway {

const Knob<int64_t> quantize_tile_knob{{
    .name = "quantize.tile_kelements",
    .help =
        "Elements of a quantisation that are one unit of scheduling, in thousands. Less spreads short sequences over "
        "threads, more saves hand-overs on long ones; the result is the same.",
    .family = "kernel",
    .values = {16, 4, 64},
    .scope = Scope::site,
    .witness = "dynamic_quantize",
}};

namespace {

constexpr ElementType f32 = ElementType::f32;

// Memory seen as lines of `inner` elements that share scale and zero point, `entries` of them in turn. One scale: a
// line is all there is.
struct Lines {
    int64_t count = 1, inner = 1, entries = 1;
};

bool is_byte(ElementType type) { return type == ElementType::u8 || type == ElementType::i8; }
bool is_wide(ElementType type) {
    return type == ElementType::u16 || type == ElementType::i16 || type == ElementType::i32;
}
bool has_input(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }

// Blocked channels whose padding must stay zero.
bool has_padding(const TensorDesc& desc) { return desc.physical_elements() != desc.shape.elements(); }

// Zero points of 32 bits must be known to be 0, as ONNX wants them: f32 would not hold them.
Verdict check_wide_zero(const Problem& problem) {
    const std::optional<std::vector<int64_t>> zeros = constant_integers(problem, 2);
    if (zeros && std::ranges::all_of(*zeros, [](int64_t zero) { return zero == 0; })) return Verdict::yes();
    return Verdict::no(Reason::element_type, "zero points of 32 bits");
}

Verdict check_parameters(const Problem& problem, ElementType bytes) {
    if (bytes == ElementType::i32 && has_input(problem, 2))
        if (Verdict verdict = check_wide_zero(problem); !verdict) return verdict;
    if (problem.src[1]->type != f32) return Verdict::no(Reason::element_type, "the scale is not f32");
    if (has_input(problem, 2) &&
        (problem.src[2]->type != bytes || problem.src[2]->shape.elements() != problem.src[1]->shape.elements()))
        return Verdict::no(Reason::element_type, "the zero point");
    // What is divided in; 1 is f32.
    if (const int64_t type = problem.attributes.integer("precision", 0); type != 0 && type != 1)
        return Verdict::no(Reason::attribute, "precision");
    return Verdict::yes();
}

Verdict read_lines(const Problem& problem, Lines& lines) {
    const TensorDesc& x = *problem.src[0];
    const Shape& scale = problem.src[1]->shape;
    lines = {};
    if (scale.elements() == 1 && scale.rank() <= 1) {
        if (has_padding(x)) return Verdict::no(Reason::layout, "padding channels would not stay zero");
        lines.inner = x.shape.elements();
        return Verdict::yes();
    }
    const auto rank = static_cast<int64_t>(x.shape.rank());
    int64_t axis = problem.attributes.integer("axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || scale != Shape{x.shape[static_cast<size_t>(axis)]})
        return Verdict::no(Reason::shape, "scales in blocks");
    lines.entries = scale[0];
    if (x.layout == Layout::plain)
        lines.inner = x.shape.elements(static_cast<size_t>(axis) + 1, x.shape.rank());
    else if (x.layout != Layout::nhwc || axis != 1)
        return Verdict::no(Reason::layout, "scales along an axis in this layout");
    lines.count = lines.inner == 0 ? 0 : x.shape.elements() / lines.inner;
    return Verdict::yes();
}

Verdict read(const Problem& problem, Lines& lines) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (!has_input(problem, 0) || !has_input(problem, 1) || problem.src.size() > 3 || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "inputs or outputs");
    const TensorDesc& x = *problem.src[0];
    const TensorDesc& y = problem.dst[0];
    const bool forwards = problem.op.ends_with("QuantizeLinear");
    const TensorDesc& floats = forwards ? x : y;
    const TensorDesc& bytes = forwards ? y : x;
    if (floats.type != f32 || !(is_byte(bytes.type) || (!forwards && is_wide(bytes.type))))
        return Verdict::no(Reason::element_type,
                           forwards ? "f32 to 8-bit integers" : "integers of up to 32 bits to f32");
    if (x.layout != y.layout) return Verdict::no(Reason::layout, "input and output in two layouts");
    if (!problem.constant.empty() && problem.constant[0]) return Verdict::no(Reason::shape, "the input is a constant");
    if (Verdict verdict = check_parameters(problem, bytes.type); !verdict) return verdict;
    return read_lines(problem, lines);
}

class LinearQuantize final : public Prepared {
public:
    LinearQuantize(const QuantizeOps& ops, const Problem& problem, const Choices& choices)
        : ops_(ops),
          forwards_(is_byte(problem.dst[0].type)),
          type_((forwards_ ? problem.dst[0] : *problem.src[0]).type) {
        HEADWAY_CHECK(read(problem, lines_));
        int packed = 0;
        for (size_t i = 0; i < problem.src.size() && i < 3; ++i) {
            present_[i] = problem.src[i].has_value();
            if (present_[i] && problem.constant[i]) packed_[i] = packed++;
        }
        // Whole lines, or pieces of the one line that there is.
        const int64_t elements = choices.get(quantize_tile_knob) * 1024;
        if (lines_.count == 1) {
            each_ = elements;
            tiles_ = ceil_div(lines_.inner, elements);
        } else {
            each_ = std::max<int64_t>(1, elements / std::max<int64_t>(1, lines_.inner));
            // Lines of one element are taken `entries` at a time.
            if (lines_.inner == 1) each_ = round_up(each_, lines_.entries);
            tiles_ = ceil_div(lines_.count, each_);
        }
    }

    int64_t tiles(int) const override { return tiles_; }
    int64_t scratch_bytes() const override { return 2 * lines_.entries * static_cast<int64_t>(sizeof(float)); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        if (begin >= end) return;
        const auto* scale = reinterpret_cast<const float*>(at(args, 1));
        auto* zero = reinterpret_cast<float*>(args.scratch);
        const std::byte* zeros = at(args, 2);
        for (int64_t k = 0; k < lines_.entries; ++k) zero[k] = zeros == nullptr ? 0 : zero_at(zeros, k);
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile * each_;
            if (lines_.count == 1) {
                run_line(args, first, std::min(each_, lines_.inner - first), {scale, zero, false});
                continue;
            }
            const int64_t last = std::min(lines_.count, first + each_);
            if (lines_.inner == 1) {
                for (int64_t line = first; line < last; line += lines_.entries)
                    run_line(args, line, lines_.entries, {scale, zero, true});
                continue;
            }
            for (int64_t line = first; line < last; ++line) {
                const int64_t k = line % lines_.entries;
                run_line(args, line * lines_.inner, lines_.inner, {scale + k, zero + k, false});
            }
        }
    }

private:
    const std::byte* at(const Args& args, size_t input) const {
        if (!present_[input]) return nullptr;
        return packed_[input] >= 0 ? args.packed[packed_[input]] : args.src[input];
    }

    void run_line(const Args& args, int64_t first, int64_t count, const QuantizeScales& scales) const {
        if (forwards_) {
            ops_.quantize(reinterpret_cast<const float*>(args.src[0]) + first, count, scales,
                          type_ == ElementType::u8 ? 0.0F : -128.0F, reinterpret_cast<uint8_t*>(args.dst[0]) + first);
            return;
        }
        dequantize_of(ops_, type_)(
            reinterpret_cast<const uint8_t*>(args.src[0]) + first * static_cast<int64_t>(size_of(type_)), count, scales,
            reinterpret_cast<float*>(args.dst[0]) + first);
    }

    static decltype(QuantizeOps::dequantize_u8) dequantize_of(const QuantizeOps& ops, ElementType type) {
        switch (type) {
            case ElementType::u8:
                return ops.dequantize_u8;
            case ElementType::i8:
                return ops.dequantize_i8;
            case ElementType::u16:
                return ops.dequantize_u16;
            case ElementType::i16:
                return ops.dequantize_i16;
            default:
                return ops.dequantize_i32;
        }
    }

    float zero_at(const std::byte* zeros, int64_t k) const {
        if (is_byte(type_)) return static_cast<float>(zero_point(zeros + k, type_));
        if (type_ == ElementType::i32) return 0;
        uint16_t bits;
        std::memcpy(&bits, zeros + k * static_cast<int64_t>(sizeof bits), sizeof bits);
        return type_ == ElementType::u16 ? bits : static_cast<int16_t>(bits);
    }

    const QuantizeOps& ops_;
    bool forwards_;
    ElementType type_;
    Lines lines_;
    bool present_[3] = {};
    int packed_[3] = {-1, -1, -1};
    int64_t each_ = 1, tiles_ = 0;
};

Kernel::Fields fields_of(Isa isa, const QuantizeOps& ops) {
    Kernel::Fields fields;
    fields.algorithm = "vector";
    fields.isa = isa;
    fields.numerics = Numerics::exact;
    fields.knobs = {&quantize_tile_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) {
        Lines lines;
        return read(problem, lines);
    };
    fields.work = [](const Problem& problem, const Target&, const Choices&) {
        const double bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes());
        return Work{.flops = bytes, .bytes = bytes, .efficiency = 0.2};
    };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        std::vector<Tensor> blobs;
        for (size_t i = 0; i < problem.src.size(); ++i)
            if (problem.src[i] && problem.constant[i]) blobs.push_back(*constants[i]);
        return blobs;
    };
    fields.prepare = [&ops](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<LinearQuantize>(ops, problem, choices);
    };
    return fields;
}

}  // namespace

Kernel::Fields linear_quantize_fields(const std::string& isa_word, Isa isa, const QuantizeOps& ops) {
    Kernel::Fields fields = fields_of(isa, ops);
    fields.name = "quantize_linear.vector." + isa_word;
    fields.help = "f32 as 8-bit integers, with one scale or one for each position on an axis.";
    fields.ops = {"QuantizeLinear", "com.microsoft/QuantizeLinear"};
    return fields;
}

Kernel::Fields linear_dequantize_fields(const std::string& isa_word, Isa isa, const QuantizeOps& ops) {
    Kernel::Fields fields = fields_of(isa, ops);
    fields.name = "dequantize_linear.vector." + isa_word;
    fields.help = "Integers of 8, 16 and 32 bits as f32, with one scale or one for each position on an axis.";
    fields.ops = {"DequantizeLinear", "com.microsoft/DequantizeLinear"};
    return fields;
}

namespace {

const Kernel quantize_baseline{linear_quantize_fields("baseline", Isa::baseline, baseline::quantize_ops)};
const Kernel quantize_avx2{linear_quantize_fields("avx2", Isa::avx2, avx2::quantize_ops)};
const Kernel quantize_avx512{linear_quantize_fields("avx512", Isa::avx512, avx512::quantize_ops)};
const Kernel dequantize_baseline{linear_dequantize_fields("baseline", Isa::baseline, baseline::quantize_ops)};
const Kernel dequantize_avx2{linear_dequantize_fields("avx2", Isa::avx2, avx2::quantize_ops)};
const Kernel dequantize_avx512{linear_dequantize_fields("avx512", Isa::avx512, avx512::quantize_ops)};

}  // namespace
}  // namespace headway
