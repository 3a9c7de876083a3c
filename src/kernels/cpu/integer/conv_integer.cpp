// ConvInteger as exact products: rows of gathered windows times the weights.
#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/integer/operands.h"
#include "kernels/cpu/integer/product.h"

namespace headway {
namespace {

Verdict read(const Problem& problem, ConvGeometry& g) {
    if (Verdict verdict = read_windows(problem, g); !verdict) return verdict;
    if (problem.constant.size() < 2 || !problem.constant[1])
        return Verdict::no(Reason::needs_constant, "the weights are computed at run time");
    return check_integer_operands(problem, g.oc);
}

class ConvInteger final : public Prepared {
public:
    ConvInteger(const IntegerMicro& micro, const Problem& problem, const Choices& choices)
        : micro_(micro), operands_(problem), tile_rows_(choices.get(integer_rows_knob)) {
        HEADWAY_CHECK(read(problem, g_));
        panels_ = {g_.k(), g_.group_oc()};
        x_type_ = problem.src[0]->type;
        w_type_ = problem.src[1]->type;
        w_zero_per_channel_ = operands_.has(3) && problem.src[3]->shape.elements() != 1;
        blocks_ = ceil_div(g_.oh * g_.ow, tile_rows_);
    }

    int64_t tiles(int) const override { return g_.batch * g_.group * blocks_; }
    int64_t scratch_bytes() const override { return room().bytes(); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) run_tile(args, tile);
    }

    static std::vector<Tensor> pack(const Problem& problem, std::span<const Tensor* const> constants) {
        ConvGeometry g;
        HEADWAY_CHECK(read(problem, g));
        const IntegerPanels shape{g.k(), g.group_oc()};
        std::vector<Tensor> b;
        b.emplace_back(ElementType::i8, Shape{g.group, shape.bytes()});
        b.emplace_back(ElementType::i32, Shape{g.oc});
        for (int64_t group = 0; group < g.group; ++group)
            shape.pack(constants[1]->bytes().data() + group * g.group_oc() * g.k(), 1, g.k(),
                       flip_of(problem.src[1]->type, moved_b),
                       b[0].mutable_data<int8_t>().data() + group * shape.bytes(),
                       b[1].mutable_data<int32_t>().data() + group * g.group_oc());
        return pack_integers(problem, constants, std::move(b));
    }

private:
    IntegerRowRoom room() const { return {panels_, tile_rows_}; }
    void run_tile(const Args& args, int64_t tile) const {
        const int64_t pixels = g_.oh * g_.ow, first = tile % blocks_ * tile_rows_;
        const int64_t group = tile / blocks_ % g_.group, image = tile / blocks_ / g_.group;
        const int32_t x_zero = zero_point(operands_.at(args, 2), x_type_) + flip_of(x_type_, moved_a);
        const IntegerRows rows =
            gather(args, image, group, first, std::min(tile_rows_, pixels - first), static_cast<uint8_t>(x_zero));
        const std::byte* w_zero = operands_.at(args, 3);
        if (w_zero_per_channel_) w_zero += group * g_.group_oc();
        const IntegerZeros zeros{x_zero, w_zero, w_type_, w_zero_per_channel_};
        const auto* panels = reinterpret_cast<const int8_t*>(operands_.at(args, 1)) + group * panels_.bytes();
        const int32_t* sums = operands_.sums(args) + group * g_.group_oc();
        int32_t* y = reinterpret_cast<int32_t*>(args.dst[0]) + (image * g_.oc + group * g_.group_oc()) * pixels + first;
        for (int64_t panel = 0; panel < panels_.panels(); ++panel) {
            const IntegerColumns columns = columns_of_panel(panels_, panel, sums, zeros);
            multiply_panel(micro_, panels_, rows, panel, panels, columns, [&](int64_t r, const IntegerRow& values) {
                int32_t line[IntegerMicro::columns];
                micro_.finish_i32(values, line);
                for (int64_t j = 0; j < columns.width; ++j) y[(columns.first + j) * pixels + r] = line[j];
            });
        }
    }

    // Windows of output pixels [first, first + count) of one image and group; padding is the zero point.
    IntegerRows gather(const Args& args, int64_t image, int64_t group, int64_t first, int64_t count,
                       uint8_t zero) const {
        const auto* x =
            reinterpret_cast<const uint8_t*>(args.src[0]) + (image * g_.ic + group * g_.group_ic()) * g_.ih * g_.iw;
        return room().rows(args.scratch, count, [&](int64_t r, uint8_t* row) {
            gather_window(x, (first + r) / g_.ow * g_.stride_h - g_.pad_top,
                          (first + r) % g_.ow * g_.stride_w - g_.pad_left, zero, row);
            return micro_.move_row(row, panels_.k, 0, row);
        });
    }

    void gather_window(const uint8_t* x, int64_t top, int64_t left, uint8_t zero, uint8_t* row) const {
        const uint8_t flip = flip_of(x_type_, moved_a);
        const bool inside = left >= 0 && left + (g_.kw - 1) * g_.dilation_w < g_.iw;
        for (int64_t channel = 0; channel < g_.group_ic(); ++channel, x += g_.ih * g_.iw)
            for (int64_t i = 0; i < g_.kh; ++i, row += g_.kw) {
                const int64_t line = top + i * g_.dilation_h;
                if (line < 0 || line >= g_.ih) {
                    std::fill_n(row, g_.kw, zero);
                    continue;
                }
                const uint8_t* from = x + line * g_.iw;
                for (int64_t j = 0; j < g_.kw; ++j) {
                    const int64_t at = left + j * g_.dilation_w;
                    row[j] = inside || (at >= 0 && at < g_.iw) ? from[at] ^ flip : zero;
                }
            }
    }

    const IntegerMicro& micro_;
    IntegerOperands operands_;
    int64_t tile_rows_;
    ConvGeometry g_{};
    IntegerPanels panels_;
    ElementType x_type_ = ElementType::u8, w_type_ = ElementType::i8;
    bool w_zero_per_channel_ = false;
    int64_t blocks_ = 0;
};

Kernel::Fields fields_of(const IntegerIsa& isa) {
    Kernel::Fields fields;
    fields.name = "conv.integer." + std::string(isa.name);
    fields.algorithm = "integer";
    fields.help = "Exact convolution of 8-bit integers: gathered windows times packed weights, sums in i32.";
    fields.ops = {"ConvInteger"};
    fields.isa = isa.isa;
    fields.numerics = Numerics::exact;
    fields.knobs = {&integer_rows_knob};
    fields.supports = [&isa](const Problem& problem, const Target& target, const Choices&) {
        if (Verdict verdict = runs_on(isa, target); !verdict) return verdict;
        ConvGeometry g;
        return read(problem, g);
    };
    fields.work = [&isa](const Problem& problem, const Target&, const Choices&) {
        ConvGeometry g;
        HEADWAY_CHECK(read(problem, g));
        const IntegerPanels panels{g.k(), g.group_oc()};
        return integer_work(isa, panels, static_cast<double>(g.pixels() * g.group), conv_bytes(problem, g, 1));
    };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        return ConvInteger::pack(problem, constants);
    };
    fields.prepare = [&isa](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<ConvInteger>(isa.micro, problem, choices);
    };
    return fields;
}

const Kernel conv_integer_vnni{fields_of(integer_isas()[0])};
const Kernel conv_integer_avx2{fields_of(integer_isas()[1])};
const Kernel conv_integer_baseline{fields_of(integer_isas()[2])};

}  // namespace
}  // namespace headway
