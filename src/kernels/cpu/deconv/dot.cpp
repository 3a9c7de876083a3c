// The products of subpixel.cpp where an output row has few values for each input pixel: dot products along the channels
// instead of vectors of columns that would be mostly empty.
#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/deconv/deconv.h"
#include "kernels/cpu/deconv/geometry.h"
#include "kernels/cpu/gemm/epilogue.h"

namespace headway {
namespace {

const Knob<int64_t> dot_pixels_knob{{
    .name = "deconv.dot_pixels",
    .help = "Input pixels of a unit of scheduling of a transposed convolution computed by dot products.",
    .family = "kernel",
    .values = {512, 128, 2048, 8192},
    .scope = Scope::site,
    .witness = "deconv_one_channel",
    .witness_route = "deconv.algorithm=dot",
}};

class DotDeconv final : public Prepared {
public:
    DotDeconv(const DotMicro& micro, Isa isa, const Problem& problem, const Choices& choices)
        : g_(deconv_geometry(problem)),
          micro_(micro),
          epilogue_(problem, Epilogue::View::pixels, isa),
          lines_(std::max<int64_t>(1, choices.get(dot_pixels_knob) / std::max<int64_t>(1, g_.iw))),
          b_run_(round_up(g_.ic, micro.lanes)) {}

    // A tile is some lines of the input, counted through the batch.
    int64_t tiles(int) const override { return g_.in_pixels() == 0 ? 0 : ceil_div(g_.batch * g_.ih, lines_); }
    int64_t scratch_bytes() const override { return g_.iw * static_cast<int64_t>(sizeof(float*)); }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t tile = begin; tile < end; ++tile) {
            const int64_t first = tile * lines_, last = std::min(g_.batch * g_.ih, first + lines_);
            for (int64_t line = first; line < last; ++line) run_line(args, line, dst);
            const int64_t line_pixels = g_.kh * g_.ow;
            epilogue_.apply(args.operands, dst, first * line_pixels, (last - first) * line_pixels, 0, g_.oc);
        }
    }

private:
    void run_line(const Args& args, int64_t line, float* dst) const {
        const float* src = reinterpret_cast<const float*>(args.src[0]) + line * g_.iw * g_.ic;
        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        for (int64_t i = 0; i < g_.iw; ++i) pointers[i] = src + i * g_.ic;
        const int64_t columns = g_.kw * g_.oc;
        DotTile tile{};
        tile.rows = pointers;
        tile.segments = 1;
        tile.run = g_.ic;
        tile.b_run = b_run_;
        tile.init = reinterpret_cast<const float*>(args.packed[1]);
        for (int64_t kh = 0; kh < g_.kh; ++kh) {
            tile.b = reinterpret_cast<const float*>(args.packed[0]) + kh * columns * b_run_;
            tile.c = dst + (line * g_.kh + kh) * g_.ow * g_.oc;
            multiply_rows(micro_, tile, columns, g_.iw);
        }
    }

    DeconvGeometry g_;
    const DotMicro& micro_;
    Epilogue epilogue_;
    int64_t lines_, b_run_;
};

// [kernel row][kernel column, output channel][input channels, zeros up to whole vectors]
std::vector<Tensor> pack(const DotMicro& micro, const Problem& problem, std::span<const Tensor* const> constants) {
    const DeconvGeometry g = deconv_geometry(problem);
    const int64_t columns = g.taps() * g.oc, b_run = round_up(g.ic, micro.lanes);
    const std::vector<float> matrix = deconv_matrix(g, constants[1]->data<float>(), 0);
    Tensor packed(ElementType::f32, Shape{columns * b_run}), init(ElementType::f32, Shape{g.kw * g.oc});
    const std::span<float> values = packed.mutable_data<float>();
    for (int64_t n = 0; n < columns; ++n)
        for (int64_t c = 0; c < g.ic; ++c)
            values[static_cast<size_t>(n * b_run + c)] = matrix[static_cast<size_t>(c * columns + n)];
    if (g.has_bias)
        for (int64_t n = 0; n < g.kw * g.oc; ++n) init.set(n, constants[2]->at(n % g.oc));
    return {std::move(packed), std::move(init)};
}

Verdict supports(const Problem& problem) {
    DeconvGeometry g{};
    if (Verdict verdict = read_deconv(problem, g); !verdict) return verdict;
    if (g.group != 1) return Verdict::no(Reason::attribute, std::to_string(g.group) + " groups (needs 1)");
    if (!g.disjoint())
        return Verdict::no(Reason::attribute, "windows overlap or leave gaps (needs kernel = stride, no pads)");
    const int64_t columns = g.kw * g.oc;
    if (columns < 1 || columns > DotMicro::most_columns)
        return Verdict::no(Reason::shape, std::to_string(columns) +
                                              " values in an output row for each pixel (needs 1 to " +
                                              std::to_string(DotMicro::most_columns) + ")");
    return Verdict::yes();
}

Work work_of(const DotMicro& micro, const Problem& problem) {
    const DeconvGeometry g = deconv_geometry(problem);
    const double vectors = static_cast<double>(ceil_div(g.ic, micro.lanes));
    const double flops =
        2.0 * static_cast<double>(g.in_pixels() * g.taps() * g.oc) * vectors * static_cast<double>(micro.lanes);
    const double bytes =
        static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes() + problem.src[1]->bytes());
    // Adding up the lanes at the end costs about as much as eight vectors of products.
    return {flops, bytes, 0.6 * vectors / (vectors + 8)};
}

}  // namespace

Kernel::Fields dot_deconv(Isa isa, std::string_view isa_name, const DotMicro& micro) {
    Kernel::Fields fields;
    fields.name = "conv_transpose.dot." + std::string(isa_name);
    fields.algorithm = "dot";
    fields.help =
        "Transposed convolution to few channels whose kernel is as large as its stride: dot products along the "
        "channels.";
    fields.ops = {"ConvTranspose"};
    fields.isa = isa;
    fields.knobs = {&dot_pixels_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices&) { return supports(problem); };
    fields.work = [&micro](const Problem& problem, const Target&, const Choices&) { return work_of(micro, problem); };
    fields.pack = [&micro](const Problem& problem, const Target&, const Choices&,
                           std::span<const Tensor* const> constants) { return pack(micro, problem, constants); };
    fields.prepare = [isa, &micro](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<DotDeconv>(micro, isa, problem, choices);
    };
    return fields;
}

namespace {

const Kernel dot_baseline{dot_deconv(Isa::baseline, "baseline", dot_micro(Isa::baseline))};
const Kernel dot_avx2{dot_deconv(Isa::avx2, "avx2", dot_micro(Isa::avx2))};
const Kernel dot_avx512{dot_deconv(Isa::avx512, "avx512", dot_micro(Isa::avx512))};

}  // namespace
}  // namespace headway
