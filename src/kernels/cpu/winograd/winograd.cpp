#include "kernels/cpu/winograd/winograd.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/gemm/epilogue.h"
#include "kernels/cpu/winograd/split.h"
#include "kernels/cpu/winograd/weights.h"

namespace headway {
namespace {

const Knob<int64_t> block_knob{{
    .name = "conv.winograd_block",
    .help =
        "Image tiles that Winograd transforms and multiplies together; 0 = as many as keep the transformed data in the "
        "second-level cache.",
    .family = "kernel",
    .values = {0, 6, 12, 24, 48, 96},
    .scope = Scope::site,
    .witness = "conv_3x3",
    .witness_route = "conv.algorithm=winograd4",
}};

constexpr int64_t float_bytes = sizeof(float);
constexpr int64_t bias_step = 16;  // the widest vector: every block of the bias is whole vectors

// The tiles of all images, row by row; the last of a row and of a column may reach beyond the output.
struct TileGrid {
    int64_t rows, columns, count;
};
TileGrid tile_grid(const ConvGeometry& g, int m) {
    const int64_t rows = ceil_div(g.oh, m), columns = ceil_div(g.ow, m);
    return {rows, columns, g.batch * rows * columns};
}

class Winograd final : public Prepared {
public:
    Winograd(int m, const GemmMicro& micro, const WinogradTransforms& transforms, Isa isa, const Problem& problem,
             const Target& target, const Choices& choices)
        : g_(conv_geometry(problem)),
          m_(m),
          points_((m + 2) * (m + 2)),
          micro_(micro),
          transforms_(transforms),
          format_(weight_format(choices)),
          panels_(micro, g_.ic, g_.oc),
          epilogue_(problem, Epilogue::View::pixels, isa),
          grid_(tile_grid(g_, m)),
          walk_(choose_walk(choices)),
          zeros_(static_cast<size_t>(std::max(g_.ic, panels_.init_size())), 0.0F) {
        choose_blocks(target, choices.get(block_knob));
        input_step_ = block_ * g_.ic + skew;
        int64_t widest = 0;
        for (const ColumnBlock& columns : columns_) widest = std::max(widest, columns.columns);
        output_step_ = block_ * widest + skew;
        pointer_bytes_ = round_up(block_ * static_cast<int64_t>(sizeof(float*)), 64);
    }

    int64_t tiles(int) const override { return blocks_ * static_cast<int64_t>(columns_.size()); }
    int64_t scratch_bytes() const override {
        return pointer_bytes_ + points_ * (input_step_ + output_step_) * float_bytes;
    }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        int64_t transformed = -1;  // neighbouring units share a block of tiles and its transformed input
        for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t count = static_cast<int64_t>(columns_.size()), block = unit / count;
            if (block != transformed) transform_inputs(args, block);
            transformed = block;
            multiply(args, block, columns_[static_cast<size_t>(unit % count)]);
            transform_outputs(args, block, columns_[static_cast<size_t>(unit % count)]);
        }
    }

private:
    // Points lie a power of two apart for many channel counts; a cache line more keeps them in different cache sets.
    static constexpr int64_t skew = 16;

    void choose_blocks(const Target& target, int64_t asked) {
        const int64_t tile_columns = int64_t{2} * micro_.lanes;
        const WinogradSplit split =
            split_winograd({points_, grid_.count, g_.ic, g_.oc}, micro_.rows[2], tile_columns, target, asked);
        block_ = split.block;
        blocks_ = split.blocks;
        columns_ =
            column_blocks(panels_, std::max<int64_t>(1, round_up(ceil_div(g_.oc, split.column_parts), tile_columns)));
    }

    struct Place {
        int64_t image, oh, ow;
    };
    Place place_of(int64_t tile) const {
        const int64_t row = tile / grid_.columns;
        return {row / grid_.rows, row % grid_.rows * m_, tile % grid_.columns * m_};
    }
    int64_t tiles_of(int64_t block) const { return std::min(block_, grid_.count - block * block_); }
    float* inputs(const Args& args) const { return reinterpret_cast<float*>(args.scratch + pointer_bytes_); }
    float* products(const Args& args) const { return inputs(args) + points_ * input_step_; }

    void transform_inputs(const Args& args, int64_t block) const {
        const float* image = reinterpret_cast<const float*>(args.src[0]);
        const float** rows = reinterpret_cast<const float**>(args.scratch);
        const auto transform = transforms_.input(m_);
        for (int64_t i = 0; i < tiles_of(block); ++i) {
            const Place place = place_of(block * block_ + i);
            constexpr int most = WinogradTransforms::largest + 2;
            const float* pixels[most * most];
            point_at_pixels(image, place, pixels);
            float* dst = inputs(args) + i * g_.ic;
            transform(pixels, dst, input_step_, g_.ic);
            rows[i] = dst;
        }
    }

    void point_at_pixels(const float* image, const Place& place, const float** pixels) const {
        for (int64_t y = 0; y < m_ + 2; ++y)
            for (int64_t x = 0; x < m_ + 2; ++x) {
                const int64_t ih = place.oh - g_.pad_top + y, iw = place.ow - g_.pad_left + x;
                const bool inside = ih >= 0 && ih < g_.ih && iw >= 0 && iw < g_.iw;
                *pixels++ = inside ? image + ((place.image * g_.ih + ih) * g_.iw + iw) * g_.ic : zeros_.data();
            }
    }

    void multiply(const Args& args, int64_t block, const ColumnBlock& columns) const {
        const int64_t matrix_bytes = panels_.size() * (format_ == WeightFormat::bf16 ? 2 : float_bytes);
        const float* const* rows = reinterpret_cast<const float* const*>(args.scratch);
        const int64_t tiles = tiles_of(block);
        for (int64_t point = 0; point < points_; ++point) {
            const PackedMatrix b{&micro_, &panels_, format_, args.packed[0] + point * matrix_bytes, zeros_.data()};
            multiply_block(b, {rows, block_, 1, g_.ic, point * input_step_}, tiles, columns.panel_begin,
                           columns.panel_end, walk_, products(args) + point * output_step_ - columns.column,
                           columns.columns);
        }
    }

    void transform_outputs(const Args& args, int64_t block, const ColumnBlock& columns) const {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        const float* bias = reinterpret_cast<const float*>(args.packed[1]);
        const auto transform = transforms_.output(m_);
        for (int64_t i = 0; i < tiles_of(block); ++i) {
            const Place place = place_of(block * block_ + i);
            const int64_t pixel = (place.image * g_.oh + place.oh) * g_.ow + place.ow;
            transform({products(args) + i * columns.columns, output_step_, bias + columns.column,
                       dst + pixel * g_.oc + columns.column, g_.ow * g_.oc, g_.oc,
                       static_cast<int>(std::min<int64_t>(m_, g_.oh - place.oh)),
                       static_cast<int>(std::min<int64_t>(m_, g_.ow - place.ow)), columns.columns});
        }
        if (!epilogue_.empty()) finish(args, block, columns);
    }

    // The epilogue over the stretches of output rows that the block's tiles cover.
    void finish(const Args& args, int64_t block, const ColumnBlock& columns) const {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        const int64_t end = block * block_ + tiles_of(block);
        for (int64_t tile = block * block_; tile < end;) {
            const int64_t count = std::min(end - tile, grid_.columns - tile % grid_.columns);
            const Place place = place_of(tile);
            const int64_t pixels = std::min(count * m_, g_.ow - place.ow);
            for (int64_t oh = place.oh; oh < std::min(place.oh + m_, g_.oh); ++oh)
                epilogue_.apply(args.operands, dst, (place.image * g_.oh + oh) * g_.ow + place.ow, pixels,
                                columns.column, columns.columns);
            tile += count;
        }
    }

    ConvGeometry g_;
    int m_;
    int64_t points_;
    const GemmMicro& micro_;
    const WinogradTransforms& transforms_;
    WeightFormat format_;
    Panels panels_;
    Epilogue epilogue_;
    TileGrid grid_;
    Walk walk_;
    std::vector<float> zeros_;
    std::vector<ColumnBlock> columns_;
    int64_t block_ = 1, blocks_ = 0, input_step_ = 0, output_step_ = 0, pointer_bytes_ = 0;
};

std::vector<Tensor> pack(int m, const GemmMicro& micro, const Problem& problem, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const ConvGeometry g = conv_geometry(problem);
    const Panels panels(micro, g.ic, g.oc);
    const std::vector<float> matrices = winograd_weights(m, constants[1]->data<float>(), g.ic, g.oc);
    std::vector<int64_t> offsets;
    for (int64_t c = 0; c < g.ic; ++c) offsets.push_back(c * g.oc);
    const int64_t points = (m + 2) * (m + 2);
    Tensor packed = packed_storage(panels, points, weight_format(choices));
    for (int64_t point = 0; point < points; ++point)
        pack_into(packed, panels, point, matrices.data() + point * g.ic * g.oc, offsets, 1, 1.0F);
    Tensor bias(ElementType::f32, Shape{round_up(g.oc, bias_step)});
    if (g.has_bias)
        for (int64_t c = 0; c < g.oc; ++c) bias.set(c, constants[2]->at(c));
    return {std::move(packed), std::move(bias)};
}

Verdict supports(int m, const Problem& problem, const Choices& choices) {
    ConvGeometry g{};
    if (Verdict verdict = read_nhwc_conv(problem, g); !verdict) return verdict;
    const auto both = [](int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
    if (g.kh != 3 || g.kw != 3) return Verdict::no(Reason::attribute, "kernel " + both(g.kh, g.kw) + " (needs 3x3)");
    if (g.stride_h != 1 || g.stride_w != 1)
        return Verdict::no(Reason::attribute, "stride " + both(g.stride_h, g.stride_w) + " (needs 1)");
    if (g.dilation_h != 1 || g.dilation_w != 1)
        return Verdict::no(Reason::attribute, "dilation " + both(g.dilation_h, g.dilation_w) + " (needs 1)");
    if (g.group != 1) return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups (needs 1)");
    // The sums of F(4,3) cancel: the rounding of transformed weights grows to a tenth of the result.
    if (m > 2 && weight_format(choices) == WeightFormat::bf16)
        return Verdict::no(Reason::accuracy, "transformed weights in bf16");
    return Verdict::yes();
}

Work work_of(int m, const GemmMicro& micro, const Problem& problem, const Choices& choices) {
    const ConvGeometry g = conv_geometry(problem);
    const Panels panels(micro, g.ic, g.oc);
    const double points = (m + 2) * (m + 2), tiles = static_cast<double>(tile_grid(g, m).count);
    const double ic = static_cast<double>(g.ic), oc = static_cast<double>(panels.padded_n());
    const double weight_bytes = weight_format(choices) == WeightFormat::bf16 ? 2 : 4;
    const double flops = tiles * points * (2 * ic * oc + winograd_transform_flops * (ic + oc));
    const double bytes = conv_bytes(problem, g, 0) + points * ic * oc * weight_bytes;
    return {flops, bytes, 0.93 * winograd_reuse(tiles) * ic / (ic + 1)};
}

}  // namespace

Kernel::Fields winograd_conv(int m, Isa isa, std::string_view isa_name, const GemmMicro& micro,
                             const WinogradTransforms& transforms) {
    Kernel::Fields fields;
    fields.algorithm = "winograd" + std::to_string(m);
    fields.name = "conv." + fields.algorithm + "." + std::string(isa_name);
    fields.help = "3x3 convolution by Winograd F(" + std::to_string(m) +
                  ",3): tiles are transformed, multiplied point by point and transformed back.";
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.numerics = Numerics::approximates;
    fields.knobs = {&block_knob, &gemm_kc_knob, &gemm_prefetch_knob, &weight_format_knob};
    fields.supports = [m](const Problem& problem, const Target&, const Choices& choices) {
        return supports(m, problem, choices);
    };
    fields.work = [m, &micro](const Problem& problem, const Target&, const Choices& choices) {
        return work_of(m, micro, problem, choices);
    };
    fields.pack = [m, &micro](const Problem& problem, const Target&, const Choices& choices,
                              std::span<const Tensor* const> constants) {
        return pack(m, micro, problem, choices, constants);
    };
    fields.prepare = [m, isa, &micro, &transforms](const Problem& problem, const Target& target,
                                                   const Choices& choices) {
        return std::make_unique<Winograd>(m, micro, transforms, isa, problem, target, choices);
    };
    return fields;
}

namespace {

Kernel::Fields on(int m, Isa isa) {
    return winograd_conv(m, isa, to_string(isa), gemm_micro(isa), winograd_transforms(isa));
}

const Kernel winograd2_baseline{on(2, Isa::baseline)};
const Kernel winograd2_avx2{on(2, Isa::avx2)};
const Kernel winograd2_avx512{on(2, Isa::avx512)};
const Kernel winograd4_baseline{on(4, Isa::baseline)};
const Kernel winograd4_avx2{on(4, Isa::avx2)};
const Kernel winograd4_avx512{on(4, Isa::avx512)};
const Kernel winograd6_baseline{on(6, Isa::baseline)};
const Kernel winograd6_avx2{on(6, Isa::avx2)};
const Kernel winograd6_avx512{on(6, Isa::avx512)};

}  // namespace
}  // namespace headway
