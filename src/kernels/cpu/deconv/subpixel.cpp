// Kernel as large as the stride: each input pixel makes a block of output pixels that no other touches. For one kernel
// row the outputs (kernel column, channel) of neighbouring pixels follow each other in memory, so an output row is a
// dense product of an input row and that kernel row's weights.
#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/deconv/deconv.h"
#include "kernels/cpu/deconv/geometry.h"
#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

class SubpixelDeconv final : public Prepared {
public:
    SubpixelDeconv(const GemmMicro& micro, Isa isa, const Problem& problem, const Target& target,
                   const Choices& choices)
        : g_(deconv_geometry(problem)),
          micro_(micro),
          format_(weight_format(choices)),
          panels_(micro, g_.ic, g_.kw * g_.oc),
          epilogue_(problem, Epilogue::View::pixels, isa),
          blocking_(choose_blocking(g_.iw, panels_.n(), g_.ic, micro, target, choices)) {
        parts_ = g_.iw == 0 ? 0 : ceil_div(g_.iw, blocking_.rows);
    }

    // A tile is a part of an input row under one kernel row.
    int64_t tiles(int) const override { return g_.batch * g_.ih * g_.kh * parts_; }
    int64_t scratch_bytes() const override { return blocking_.rows * static_cast<int64_t>(sizeof(float*)); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile)
            run_tile(args, tile / parts_ / g_.kh, tile / parts_ % g_.kh, tile % parts_ * blocking_.rows);
    }

private:
    void run_tile(const Args& args, int64_t line, int64_t kh, int64_t iw) const {
        const int64_t count = std::min(blocking_.rows, g_.iw - iw);
        const float* src = reinterpret_cast<const float*>(args.src[0]) + (line * g_.iw + iw) * g_.ic;
        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        for (int64_t i = 0; i < count; ++i) pointers[i] = src + i * g_.ic;
        const int64_t matrix_bytes = panels_.size() * (format_ == WeightFormat::bf16 ? 2 : 4);
        const PackedMatrix b{&micro_, &panels_, format_, args.packed[0] + kh * matrix_bytes,
                             reinterpret_cast<const float*>(args.packed[1])};
        // input lines of a batch follow each other, and so do the output lines they make
        const int64_t pixel = (line * g_.kh + kh) * g_.ow + iw * g_.kw;
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        multiply_block(b, {pointers, count, 1, g_.ic}, count, 0, panels_.list().size(), blocking_.walk,
                       dst + pixel * g_.oc, panels_.n());
        epilogue_.apply(args.operands, dst, pixel, count * g_.kw, 0, g_.oc);
    }

    DeconvGeometry g_;
    const GemmMicro& micro_;
    WeightFormat format_;
    Panels panels_;
    Epilogue epilogue_;
    Blocking blocking_;
    int64_t parts_ = 0;
};

std::vector<Tensor> pack(const GemmMicro& micro, const Problem& problem, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const DeconvGeometry g = deconv_geometry(problem);
    const Panels panels(micro, g.ic, g.kw * g.oc);
    const std::vector<float> matrix = deconv_matrix(g, constants[1]->data<float>(), 0);
    std::vector<int64_t> offsets;
    for (int64_t c = 0; c < g.ic; ++c) offsets.push_back(c * g.taps() * g.oc);
    Tensor packed = packed_storage(panels, g.kh, weight_format(choices));
    for (int64_t kh = 0; kh < g.kh; ++kh)
        pack_into(packed, panels, kh, matrix.data() + kh * panels.n(), offsets, 1, 1.0F);
    Tensor init(ElementType::f32, Shape{panels.init_size()});
    if (g.has_bias)
        for (int64_t n = 0; n < panels.n(); ++n) init.set(n, constants[2]->at(n % g.oc));
    return {std::move(packed), std::move(init)};
}

Verdict supports(const Problem& problem) {
    DeconvGeometry g{};
    if (Verdict verdict = read_deconv(problem, g); !verdict) return verdict;
    if (g.group != 1) return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups (needs 1)");
    if (!g.disjoint())
        return Verdict::no(Reason::attribute, "windows overlap or leave gaps (needs kernel = stride, no pads)");
    return Verdict::yes();
}

Work work_of(const GemmMicro& micro, const Problem& problem) {
    const DeconvGeometry g = deconv_geometry(problem);
    const Panels panels(micro, g.ic, g.kw * g.oc);
    const double k = static_cast<double>(g.ic);
    const double flops = 2.0 * static_cast<double>(g.in_pixels() * g.kh * panels.padded_n()) * k;
    const double bytes =
        static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes() + problem.src[1]->bytes());
    return {flops, bytes, 0.85 * k / (k + 8) * (panels.padded_n() <= micro.lanes ? 0.7 : 1.0)};
}

}  // namespace

Kernel::Fields subpixel_deconv(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    Kernel::Fields fields;
    fields.name = "conv_transpose.subpixel." + std::string(isa_name);
    fields.algorithm = "subpixel";
    fields.help =
        "Transposed convolution whose kernel is as large as its stride: one dense product for each kernel row.";
    fields.ops = {"ConvTranspose"};
    fields.isa = isa;
    fields.knobs = blocking_knobs();
    fields.knobs.push_back(&weight_format_knob);
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); };
    fields.work = [&micro](const Problem& problem, const Target&, const Choices&) { return work_of(micro, problem); };
    fields.pack = [&micro](const Problem& problem, const Target&, const Choices& choices,
                           std::span<const Tensor* const> constants) {
        return pack(micro, problem, choices, constants);
    };
    fields.prepare = [isa, &micro](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<SubpixelDeconv>(micro, isa, problem, target, choices);
    };
    return fields;
}

namespace {

const Kernel subpixel_baseline{subpixel_deconv(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel subpixel_avx2{subpixel_deconv(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel subpixel_avx512{subpixel_deconv(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};

}  // namespace
}  // namespace headway
