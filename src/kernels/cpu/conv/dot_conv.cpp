#include "kernels/cpu/conv/dot_conv.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/conv/geometry.h"
#include "kernels/cpu/conv/windows.h"
#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

const Knob<int64_t> dot_pixels_knob{{
    .name = "conv.dot_pixels",
    .help = "Output pixels of a block of a convolution computed by dot products.",
    .family = "kernel",
    .values = {512, 64, 128, 256, 1024, 4096},
    .scope = Scope::site,
    .witness = "conv_one_channel",
    .witness_route = "conv.algorithm=dot",
}};

class DotConv final : public Prepared {
public:
    DotConv(const DotMicro& micro, Isa isa, const Problem& problem, const Choices& choices)
        : g_(conv_geometry(problem)),
          micro_(micro),
          windows_(row_windows(g_, false)),
          epilogue_(problem, Epilogue::View::pixels, isa),
          blocks_(windows_->blocks(choices.get(dot_pixels_knob))),
          b_run_(round_up(windows_->run(), micro.lanes)) {
        int64_t most = 0;
        for (const PixelBlock& block : blocks_) most = std::max(most, block.count);
        pointer_bytes_ = round_up(most * windows_->segments() * static_cast<int64_t>(sizeof(float*)), 64);
        scratch_bytes_ = pointer_bytes_ + windows_->scratch_floats(blocks_) * static_cast<int64_t>(sizeof(float));
    }

    int64_t tiles(int) const override { return static_cast<int64_t>(blocks_.size()); }
    int64_t scratch_bytes() const override { return scratch_bytes_; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) run_block(args, blocks_[static_cast<size_t>(tile)]);
    }

private:
    void run_block(const Args& args, const PixelBlock& block) const {
        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        windows_->find(reinterpret_cast<const float*>(args.src[0]), block, pointers,
                       reinterpret_cast<float*>(args.scratch + pointer_bytes_));
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        DotTile tile{};
        tile.rows = pointers;
        tile.c = dst + block.pixel * g_.oc;
        tile.segments = windows_->segments();
        tile.segment_step = block.count;
        tile.run = windows_->run();
        tile.b = reinterpret_cast<const float*>(args.packed[0]);
        tile.b_run = b_run_;
        tile.init = reinterpret_cast<const float*>(args.packed[1]);
        multiply_rows(micro_, tile, g_.oc, block.count);
        epilogue_.apply(args.operands, dst, block.pixel, block.count, 0, g_.oc);
    }

    ConvGeometry g_;
    const DotMicro& micro_;
    std::unique_ptr<Windows> windows_;
    Epilogue epilogue_;
    std::vector<PixelBlock> blocks_;
    int64_t b_run_, pointer_bytes_ = 0, scratch_bytes_ = 0;
};

std::vector<Tensor> pack(const DotMicro& micro, const Problem& problem, std::span<const Tensor* const> constants) {
    const ConvGeometry g = conv_geometry(problem);
    const int64_t run = g.kw * g.ic, b_run = round_up(run, micro.lanes);
    Tensor packed(ElementType::f32, Shape{g.oc * g.kh * b_run}), init(ElementType::f32, Shape{g.oc});
    const std::span<const float> weights = constants[1]->data<float>();
    for (int64_t o = 0; o < g.oc; ++o)
        for (int64_t kh = 0; kh < g.kh; ++kh)
            for (int64_t k = 0; k < run; ++k) {
                const int64_t from = ((o * g.ic + k % g.ic) * g.kh + kh) * g.kw + k / g.ic;
                packed.mutable_data<float>()[static_cast<size_t>((o * g.kh + kh) * b_run + k)] =
                    weights[static_cast<size_t>(from)];
            }
    if (g.has_bias) init = *constants[2];
    return {std::move(packed), std::move(init)};
}

Verdict supports(const Problem& problem) {
    ConvGeometry g{};
    if (Verdict verdict = read_nhwc_conv(problem, g); !verdict) return verdict;
    if (g.group != 1) return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups (needs 1)");
    if (g.dilation_w != 1)
        return Verdict::no(Reason::attribute, "dilation " + std::to_string(g.dilation_w) + " (needs 1)");
    if (g.oc < 1 || g.oc > DotMicro::most_columns)
        return Verdict::no(Reason::shape, std::to_string(g.oc) + " output channels (needs 1 to " +
                                              std::to_string(DotMicro::most_columns) + ")");
    return Verdict::yes();
}

Work work_of(const DotMicro& micro, const Problem& problem) {
    const ConvGeometry g = conv_geometry(problem);
    const double run = static_cast<double>(g.kw * g.ic),
                 padded = static_cast<double>(round_up(g.kw * g.ic, micro.lanes));
    // Adding up the lanes at the end costs about as much as eight vectors of products.
    const double vectors = padded / micro.lanes * static_cast<double>(g.kh);
    return {conv_flops(g) * padded / std::max(1.0, run), conv_bytes(problem, g, 4), 0.6 * vectors / (vectors + 8)};
}

}  // namespace

Kernel::Fields dot_conv(Isa isa, std::string_view isa_name, const DotMicro& micro) {
    Kernel::Fields fields;
    fields.name = "conv.dot." + std::string(isa_name);
    fields.algorithm = "dot";
    fields.help =
        "Convolution to at most four channels: vectors run along the kernel's rows instead of the output channels.";
    fields.ops = {"Conv"};
    fields.isa = isa;
    fields.knobs = {&dot_pixels_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); };
    fields.work = [&micro](const Problem& problem, const Target&, const Choices&) { return work_of(micro, problem); };
    fields.pack = [&micro](const Problem& problem, const Target&, const Choices&,
                           std::span<const Tensor* const> constants) { return pack(micro, problem, constants); };
    fields.prepare = [isa, &micro](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<DotConv>(micro, isa, problem, choices);
    };
    return fields;
}

namespace {

const Kernel dot_baseline{dot_conv(Isa::baseline, "baseline", dot_micro(Isa::baseline))};
const Kernel dot_avx2{dot_conv(Isa::avx2, "avx2", dot_micro(Isa::avx2))};
const Kernel dot_avx512{dot_conv(Isa::avx512, "avx512", dot_micro(Isa::avx512))};

}  // namespace
}  // namespace headway
