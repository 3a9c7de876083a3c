#include "kernels/cpu/conv/gemm_conv.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/conv/windows.h"
#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/gemm/epilogue.h"
#include "kernels/cpu/gemm/rounded_rows.h"

namespace headway {
namespace {

enum class WindowForm { gemm1x1, indirect, im2col, rows };

// Where rows are rounded, that is the copy of im2col.
std::unique_ptr<Windows> make_windows(WindowForm form, bool rounded, const Problem& problem,
                                      const ConvGeometry& geometry) {
    if (form == WindowForm::im2col && !rounded) return column_windows(geometry);
    if (form == WindowForm::rows) return row_windows(geometry, !has_nhwc_bytes(*problem.src[0]));
    return tap_windows(geometry);
}

// Offsets into one output channel's weights (ic, kh, kw) in the order of the windows (kh, kw, ic).
std::vector<int64_t> window_order(const ConvGeometry& g) {
    std::vector<int64_t> offsets;
    offsets.reserve(static_cast<size_t>(g.k()));
    for (int64_t tap = 0; tap < g.taps(); ++tap)
        for (int64_t c = 0; c < g.group_ic(); ++c) offsets.push_back(c * g.taps() + tap);
    return offsets;
}

// Column blocks of one or more groups that make up a tile.
struct ColumnUnit {
    struct Part {
        int64_t group;
        ColumnBlock block;
    };
    std::vector<Part> parts;
    int64_t column = 0, columns = 0;
};

std::vector<ColumnUnit> column_units(const Panels& panels, int64_t groups, int64_t columns) {
    std::vector<ColumnUnit> units;
    for (int64_t group = 0; group < groups; ++group)
        for (const ColumnBlock& block : column_blocks(panels, columns)) {
            if (units.empty() || units.back().columns + block.columns > columns)
                units.push_back({{}, group * panels.n() + block.column, 0});
            units.back().parts.push_back({group, block});
            units.back().columns += block.columns;
        }
    return units;
}

class GemmConv final : public Prepared {
public:
    GemmConv(WindowForm form, const GemmMicro& micro, Isa isa, const Problem& problem, const Target& target,
             const Choices& choices)
        : g_(conv_geometry(problem)),
          micro_(micro),
          format_(weight_format(micro, choices)),
          panels_(micro, g_.k(), g_.group_oc()),
          windows_(make_windows(form, micro.computes_in_bf16(), problem, g_)),
          epilogue_(problem, Epilogue::View::pixels, isa) {
        const Blocking blocking = choose_blocking(g_.pixels(), g_.oc, panels_.k(), micro, target, choices);
        walk_ = blocking.walk;
        blocks_ = windows_->blocks(blocking.rows);
        units_ = column_units(panels_, g_.group, blocking.columns);
        int64_t most = 0;
        for (const PixelBlock& block : blocks_) most = std::max(most, block.count);
        pointer_bytes_ = round_up(most * windows_->segments() * static_cast<int64_t>(sizeof(float*)), 64);
        const int64_t window_bytes = windows_->scratch_floats(blocks_) * static_cast<int64_t>(sizeof(float));
        rounded_at_ = pointer_bytes_ + round_up(window_bytes, 64);
        scratch_bytes_ = rounded_at_ + (micro.computes_in_bf16() ? rounded_bytes(most, g_.k()) : 0);
    }

    int64_t tiles(int) const override { return static_cast<int64_t>(blocks_.size() * units_.size()); }
    int64_t scratch_bytes() const override { return scratch_bytes_; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t count = static_cast<int64_t>(blocks_.size());
            run_tile(args, blocks_[static_cast<size_t>(tile % count)], units_[static_cast<size_t>(tile / count)]);
        }
    }

private:
    void run_tile(const Args& args, const PixelBlock& block, const ColumnUnit& unit) const {
        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        windows_->find(reinterpret_cast<const float*>(args.src[0]), block, pointers,
                       reinterpret_cast<float*>(args.scratch + pointer_bytes_));
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        const int64_t matrix_bytes = panels_.size() * (format_ == WeightFormat::bf16 ? 2 : 4);
        RowPointers rows{};
        int64_t rounded_group = -1;
        for (const ColumnUnit::Part& part : unit.parts) {
            const PackedMatrix weights{
                &micro_, &panels_, format_, args.packed[0] + part.group * matrix_bytes,
                reinterpret_cast<const float*>(args.packed[1]) + part.group * panels_.init_size()};
            const RowPointers found{pointers, block.count, windows_->segments(), windows_->run(),
                                    part.group * windows_->group_step()};
            if (!micro_.computes_in_bf16())
                rows = found;
            else if (std::exchange(rounded_group, part.group) != part.group)
                rows = round_rows(micro_, found, block.count, args.scratch + rounded_at_);
            multiply_block(weights, rows, block.count, part.block.panel_begin, part.block.panel_end, walk_,
                           dst + block.pixel * g_.oc + part.group * panels_.n(), g_.oc);
        }
        epilogue_.apply(args.operands, dst, block.pixel, block.count, unit.column, unit.columns);
    }

    ConvGeometry g_;
    const GemmMicro& micro_;
    WeightFormat format_;
    Panels panels_;
    std::unique_ptr<Windows> windows_;
    Epilogue epilogue_;
    Walk walk_{};
    std::vector<PixelBlock> blocks_;
    std::vector<ColumnUnit> units_;
    int64_t pointer_bytes_ = 0, rounded_at_ = 0, scratch_bytes_ = 0;
};

std::vector<Tensor> pack(const GemmMicro& micro, const Problem& problem, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const ConvGeometry g = conv_geometry(problem);
    const Panels panels(micro, g.k(), g.group_oc());
    const std::vector<int64_t> order = window_order(g);
    const float* weights = constants[1]->data<float>().data();
    const float* bias = g.has_bias ? constants[2]->data<float>().data() : nullptr;
    Tensor packed = packed_storage(panels, g.group, weight_format(micro, choices));
    Tensor init(ElementType::f32, Shape{g.group * panels.init_size()});
    for (int64_t group = 0; group < g.group; ++group) {
        pack_into(packed, panels, group, weights + group * g.group_oc() * g.k(), order, g.k(), 1.0F);
        panels.pack_init(bias == nullptr ? nullptr : bias + group * g.group_oc(), 1.0F,
                         init.mutable_data<float>().data() + group * panels.init_size());
    }
    return {std::move(packed), std::move(init)};
}

Verdict supports_1x1(const Problem& problem) {
    ConvGeometry g{};
    if (Verdict verdict = read_nhwc_conv(problem, g); !verdict) return verdict;
    if (g.taps() != 1)
        return Verdict::no(Reason::attribute,
                           "kernel " + std::to_string(g.kh) + "x" + std::to_string(g.kw) + " (needs 1x1)");
    if (g.padded()) return Verdict::no(Reason::attribute, "padding around a 1x1 kernel");
    return Verdict::yes();
}

Verdict supports_windows(const Problem& problem) {
    ConvGeometry g{};
    return read_nhwc_conv(problem, g);
}

Verdict supports_rows(const Problem& problem) {
    ConvGeometry g{};
    if (Verdict verdict = read_conv(problem, g); !verdict) return verdict;
    if (g.group != 1) return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups (needs 1)");
    if (g.dilation_w != 1)
        return Verdict::no(Reason::attribute, "dilation " + std::to_string(g.dilation_w) + " (needs 1)");
    constexpr int64_t most_plain_channels = 4;  // more would be gathered from too many planes
    const Layout layout = problem.src[0]->layout;
    if (!has_nhwc_bytes(*problem.src[0]) && (layout != Layout::plain || g.ic > most_plain_channels))
        return Verdict::no(Reason::layout, "image is " + std::string(to_string(layout)) + " with " +
                                               std::to_string(g.ic) +
                                               " channels (needs nhwc, or plain with at most 4)");
    if (!has_nhwc_bytes(problem.dst[0])) return Verdict::no(Reason::layout, "the output is not nhwc");
    return Epilogue::supports(problem, Epilogue::View::pixels);
}

Verdict supports_bf16(const Problem& problem) {
    const ConvGeometry g = conv_geometry(problem);
    if (g.group > 1 && g.group_ic() == 1)
        return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups of one channel (bf16 needs more)");
    return Verdict::yes();
}

// Share of the time that is not spent on rounding a row, in cycles: one for each vector of products; six for each run
// of values to be rounded and two for each of its vectors (bench/kernels).
double multiplying_share(WindowForm form, const ConvGeometry& g, const Panels& panels) {
    const int64_t runs = form == WindowForm::rows ? g.kh : g.taps();
    const int64_t vectors = ceil_div(ceil_div(g.k(), std::max<int64_t>(1, runs)), panels.lanes());
    const double products = static_cast<double>(panels.k() * panels.padded_n() / panels.lanes());
    return products / std::max(1.0, products + static_cast<double>(runs * (6 + 2 * vectors)));
}

struct FormFields {
    WindowForm form;
    const char* name;
    const char* algorithm;
    const char* help;
    double efficiency;  // in f32: measured by bench/kernels on layers with enough columns to fill the tiles
    Verdict (*supports)(const Problem&);
};

// Planes are interleaved float by float into rows of pixels, about five multiply-adds' time for each (Zen 5).
double interleaving_flops(const GemmMicro& micro, const Problem& problem, const Target& target) {
    if (has_nhwc_bytes(*problem.src[0])) return 0;
    const int lanes_a_cycle = micro.lanes == 16 ? 8 * target.fma512 : micro.lanes;
    return 5.0 * lanes_a_cycle * static_cast<double>(problem.src[0]->shape.elements());
}

Work work_of(const FormFields& form, const GemmMicro& micro, const Problem& problem, const Target& target,
             const Choices& choices) {
    const ConvGeometry g = conv_geometry(problem);
    const Panels panels(micro, g.k(), g.group_oc());
    const double waste =
        g.group_oc() == 0 ? 1 : static_cast<double>(panels.padded_n()) / static_cast<double>(g.group_oc());
    // A single vector has too few independent sums; a short k leaves the start and end of a tile visible.
    const double narrow = panels.padded_n() <= micro.lanes ? 0.7 : 1.0;
    const double k = static_cast<double>(g.k());
    const double weight_bytes = weight_format(micro, choices) == WeightFormat::f32 ? 4 : 2;
    constexpr double bf16_efficiency = 0.95;
    const double efficiency = micro.computes_in_bf16()
                                  ? bf16_speed * bf16_efficiency * multiplying_share(form.form, g, panels)
                                  : form.efficiency;
    return {conv_flops(g) * waste + interleaving_flops(micro, problem, target), conv_bytes(problem, g, weight_bytes),
            efficiency * narrow * k / (k + 8)};
}

Kernel::Fields fields_of(const FormFields& form, Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    Kernel::Fields fields;
    fields.name = std::string(form.name) + "." + std::string(isa_name);
    fields.algorithm = form.algorithm;
    fields.help = form.help;
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.knobs = blocking_knobs();
    const bool bf16 = micro.computes_in_bf16();
    if (bf16)
        fields.compute = ComputeFormat::bf16;
    else
        fields.knobs.push_back(&weight_format_knob);
    fields.supports = [form, bf16](const Problem& problem, const Target&, const Choices&) {
        const Verdict verdict = form.supports(problem);
        return verdict && bf16 ? supports_bf16(problem) : verdict;
    };
    fields.work = [form, &micro](const Problem& problem, const Target& target, const Choices& choices) {
        return work_of(form, micro, problem, target, choices);
    };
    fields.pack = [&micro](const Problem& problem, const Target&, const Choices& choices,
                           std::span<const Tensor* const> constants) {
        return pack(micro, problem, choices, constants);
    };
    fields.prepare = [form, isa, &micro](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<GemmConv>(form.form, micro, isa, problem, target, choices);
    };
    return fields;
}

}  // namespace

Kernel::Fields gemm1x1_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    return fields_of({WindowForm::gemm1x1, "conv.gemm1x1", "gemm", "1x1 convolution as one product over nhwc pixels.",
                      0.87, supports_1x1},
                     isa, isa_name, micro);
}
Kernel::Fields indirect_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    return fields_of(
        {WindowForm::indirect, "conv.indirect", "indirect",
         "Any convolution as a product over pointers to the window's taps, nothing copied.", 0.85, supports_windows},
        isa, isa_name, micro);
}
Kernel::Fields im2col_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    return fields_of({WindowForm::im2col, "conv.im2col", "im2col",
                      "Any convolution as a product over windows copied block by block.", 0.75, supports_windows},
                     isa, isa_name, micro);
}
Kernel::Fields rows_conv(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    return fields_of(
        {WindowForm::rows, "conv.rows", "rows",
         "Convolution over padded copies of image rows, each kernel row one run; reads plain images of few channels.",
         0.87, supports_rows},
        isa, isa_name, micro);
}

namespace {

const Kernel gemm1x1_baseline{gemm1x1_conv(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel gemm1x1_avx2{gemm1x1_conv(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel gemm1x1_avx512{gemm1x1_conv(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};
const Kernel indirect_baseline{indirect_conv(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel indirect_avx2{indirect_conv(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel indirect_avx512{indirect_conv(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};
const Kernel im2col_baseline{im2col_conv(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel im2col_avx2{im2col_conv(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel im2col_avx512{im2col_conv(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};
const Kernel rows_baseline{rows_conv(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel rows_avx2{rows_conv(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel rows_avx512{rows_conv(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};
const Kernel gemm1x1_bf16{gemm1x1_conv(Isa::avx512, "avx512bf16", avx512bf16::bf16_gemm_micro)};
const Kernel im2col_bf16{im2col_conv(Isa::avx512, "avx512bf16", avx512bf16::bf16_gemm_micro)};
const Kernel rows_bf16{rows_conv(Isa::avx512, "avx512bf16", avx512bf16::bf16_gemm_micro)};

}  // namespace
}  // namespace headway
