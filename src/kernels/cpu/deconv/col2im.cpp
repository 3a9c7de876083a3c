// Any transposed convolution in two phases: each input pixel times all taps' weights into the workspace, then each
// output pixel gathers the taps that reach it, in a fixed order.
#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/deconv/deconv.h"
#include "kernels/cpu/deconv/geometry.h"
#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

const Knob<int64_t> gather_kflops{{
    .name = "deconv.gather_kflops",
    .help =
        "Additions of a unit of scheduling, in thousands, when the columns of a transposed convolution are gathered: "
        "less balances small maps over many threads, more keeps the lines that taps share on one.",
    .family = "kernel",
    .values = {128, 32, 512},
    .scope = Scope::site,
    .witness = "deconv_2x2",
    .witness_route = "deconv.algorithm=col2im",
}};

class Col2imDeconv final : public Prepared {
public:
    Col2imDeconv(const GemmMicro& micro, Isa isa, const Problem& problem, const Target& target, const Choices& choices)
        : g_(deconv_geometry(problem)),
          micro_(micro),
          format_(weight_format(choices)),
          panels_(micro, g_.group_ic(), g_.taps() * g_.group_oc()),
          epilogue_(problem, Epilogue::View::pixels, isa),
          blocking_(choose_blocking(g_.in_pixels(), panels_.n(), panels_.k(), micro, target, choices)),
          columns_(column_blocks(panels_, blocking_.columns)),
          zeros_(static_cast<size_t>(panels_.init_size()), 0.0F) {
        row_blocks_ = g_.in_pixels() == 0 ? 0 : ceil_div(g_.in_pixels(), blocking_.rows);
        lines_ =
            std::max<int64_t>(1, choices.get(gather_kflops) * 1024 / std::max<int64_t>(1, g_.ow * g_.oc * g_.taps()));
    }

    int phases() const override { return 2; }
    int64_t tiles(int phase) const override {
        if (phase == 0) return g_.group * static_cast<int64_t>(columns_.size()) * row_blocks_;
        return ceil_div(g_.batch * g_.oh, lines_);
    }
    int64_t workspace_bytes() const override {
        return checked_mul(g_.in_pixels(), g_.taps() * g_.oc * static_cast<int64_t>(sizeof(float)),
                           "transposed convolution's columns");
    }
    int64_t scratch_bytes() const override { return blocking_.rows * static_cast<int64_t>(sizeof(float*)); }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            if (phase == 0)
                multiply_tile(args, tile);
            else
                gather_tile(args, tile);
        }
    }

private:
    void multiply_tile(const Args& args, int64_t tile) const {
        const int64_t row = tile % row_blocks_ * blocking_.rows, rest = tile / row_blocks_;
        const int64_t group = rest / static_cast<int64_t>(columns_.size());
        const ColumnBlock& columns = columns_[static_cast<size_t>(rest) % columns_.size()];
        const int64_t rows = std::min(blocking_.rows, g_.in_pixels() - row);
        const float* src = reinterpret_cast<const float*>(args.src[0]) + row * g_.ic + group * g_.group_ic();
        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        for (int64_t i = 0; i < rows; ++i) pointers[i] = src + i * g_.ic;
        const int64_t matrix_bytes = panels_.size() * (format_ == WeightFormat::bf16 ? 2 : 4);
        const PackedMatrix b{&micro_, &panels_, format_, args.packed[0] + group * matrix_bytes, zeros_.data()};
        float* product = reinterpret_cast<float*>(args.workspace) + row * g_.taps() * g_.oc + group * panels_.n();
        multiply_block(b, {pointers, rows, 1, panels_.k()}, rows, columns.panel_begin, columns.panel_end,
                       blocking_.walk, product, g_.taps() * g_.oc);
    }

    void gather_tile(const Args& args, int64_t tile) const {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        const int64_t first = tile * lines_, last = std::min(first + lines_, g_.batch * g_.oh);
        for (int64_t line = first; line < last; ++line)
            for (int64_t ow = 0; ow < g_.ow; ++ow) gather_pixel(args, line, ow, dst + (line * g_.ow + ow) * g_.oc);
        epilogue_.apply(args.operands, dst, first * g_.ow, (last - first) * g_.ow, 0, g_.oc);
    }

    void gather_pixel(const Args& args, int64_t line, int64_t ow, float* out) const {
        std::copy_n(reinterpret_cast<const float*>(args.packed[1]), g_.oc, out);
        const float* product = reinterpret_cast<const float*>(args.workspace);
        const int64_t image = line / g_.oh, oh = line % g_.oh;
        for (int64_t kh = 0; kh < g_.kh; ++kh) {
            const int64_t ih = oh + g_.pad_top - kh * g_.dilation_h;
            if (ih < 0 || ih % g_.stride_h != 0 || ih / g_.stride_h >= g_.ih) continue;
            for (int64_t kw = 0; kw < g_.kw; ++kw) {
                const int64_t iw = ow + g_.pad_left - kw * g_.dilation_w;
                if (iw < 0 || iw % g_.stride_w != 0 || iw / g_.stride_w >= g_.iw) continue;
                const int64_t pixel = (image * g_.ih + ih / g_.stride_h) * g_.iw + iw / g_.stride_w;
                add_tap(product + pixel * g_.taps() * g_.oc, kh * g_.kw + kw, out);
            }
        }
    }
    void add_tap(const float* pixel, int64_t tap, float* out) const {
        for (int64_t group = 0; group < g_.group; ++group) {
            const float* values = pixel + group * panels_.n() + tap * g_.group_oc();
            for (int64_t c = 0; c < g_.group_oc(); ++c) out[group * g_.group_oc() + c] += values[c];
        }
    }

    DeconvGeometry g_;
    const GemmMicro& micro_;
    WeightFormat format_;
    Panels panels_;
    Epilogue epilogue_;
    Blocking blocking_;
    std::vector<ColumnBlock> columns_;
    std::vector<float> zeros_;
    int64_t row_blocks_ = 0, lines_ = 1;
};

std::vector<Tensor> pack(const GemmMicro& micro, const Problem& problem, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const DeconvGeometry g = deconv_geometry(problem);
    const Panels panels(micro, g.group_ic(), g.taps() * g.group_oc());
    std::vector<int64_t> offsets;
    for (int64_t c = 0; c < g.group_ic(); ++c) offsets.push_back(c * panels.n());
    Tensor packed = packed_storage(panels, g.group, weight_format(choices));
    for (int64_t group = 0; group < g.group; ++group)
        pack_into(packed, panels, group, deconv_matrix(g, constants[1]->data<float>(), group).data(), offsets, 1, 1.0F);
    Tensor bias(ElementType::f32, Shape{g.oc});
    if (g.has_bias) bias = *constants[2];
    return {std::move(packed), std::move(bias)};
}

Work work_of(const GemmMicro& micro, const Problem& problem, const Choices& choices) {
    const DeconvGeometry g = deconv_geometry(problem);
    const Panels panels(micro, g.group_ic(), g.taps() * g.group_oc());
    const double products = static_cast<double>(g.in_pixels() * g.group * panels.padded_n());
    const double weight_bytes = weight_format(choices) == WeightFormat::bf16 ? 2 : 4;
    const double bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes()) +
                         static_cast<double>(problem.src[1]->shape.elements()) * weight_bytes + 8 * products;
    // Gathering is scalar work: one addition where a vector of multiply-adds could be, and for each tap of an output
    // pixel the divisions that find its source (6 ns, in which the vectors could do 40 operations a lane at this
    // efficiency).
    const double visits = static_cast<double>(g.batch * g.oh * g.ow * g.taps());
    const double gather = (products * 4.0 + visits * 40.0) * micro.lanes;
    return {2.0 * products * static_cast<double>(g.group_ic()) + gather, bytes, 0.6};
}

}  // namespace

Kernel::Fields col2im_deconv(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    Kernel::Fields fields;
    fields.name = "conv_transpose.col2im." + std::string(isa_name);
    fields.algorithm = "col2im";
    fields.help = "Any transposed convolution: one product of all taps, then each output pixel gathers its taps.";
    fields.ops = {"ConvTranspose"};
    fields.isa = isa;
    fields.knobs = blocking_knobs();
    fields.knobs.insert(fields.knobs.end(), {&weight_format_knob, &gather_kflops});
    fields.supports = [](const Problem& problem, const Target&, const Choices&) {
        DeconvGeometry geometry{};
        return read_deconv(problem, geometry);
    };
    fields.work = [&micro](const Problem& problem, const Target&, const Choices& choices) {
        return work_of(micro, problem, choices);
    };
    fields.pack = [&micro](const Problem& problem, const Target&, const Choices& choices,
                           std::span<const Tensor* const> constants) {
        return pack(micro, problem, choices, constants);
    };
    fields.prepare = [isa, &micro](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<Col2imDeconv>(micro, isa, problem, target, choices);
    };
    return fields;
}

namespace {

const Kernel col2im_baseline{col2im_deconv(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel col2im_avx2{col2im_deconv(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel col2im_avx512{col2im_deconv(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};

}  // namespace
}  // namespace headway
