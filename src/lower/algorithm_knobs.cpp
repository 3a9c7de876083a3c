#include "lower/algorithm_knobs.h"

#include <algorithm>

namespace headway {
namespace {

using Word = std::string_view;

const Knob<Word> conv_algorithm{{
    .name = "conv.algorithm",
    .help = "How convolutions are computed. `auto` takes the candidate that the cost model predicts fastest; any other "
            "value forces that algorithm wherever it is legal.",
    .family = "kernel",
    .values = {"auto", "rows", "indirect", "im2col", "gemm", "direct", "planar", "winograd2", "winograd4", "winograd6",
               "depthwise", "dot", "onednn"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "conv_chain",
}};

const Knob<Word> deconv_algorithm{{
    .name = "deconv.algorithm",
    .help = "How ConvTranspose is computed: one product (or dot products, for few columns) per row of a kernel that "
            "tiles the "
            "output, or a product whose columns are added into place.",
    .family = "kernel",
    .values = {"auto", "subpixel", "dot", "col2im"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "deconv_2x2",
}};

const Knob<Word> matmul_algorithm{{
    .name = "matmul.algorithm",
    .help = "How MatMul and Gemm are computed.",
    .family = "kernel",
    .values = {"auto", "gemm", "gemv", "strassen", "onednn"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "matmul_bias",
}};

const Knob<Word> attention_algorithm{{
    .name = "attention.algorithm",
    .help =
        "How attentions are computed: all scores of a block of queries at once (rows), or a block of keys at a time "
        "(flash).",
    .family = "kernel",
    .values = {"auto", "rows", "flash"},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "attention",
}};

const Knob<Word> recurrent_algorithm{{
    .name = "recurrent.algorithm",
    .help =
        "How LSTM, GRU and RNN are computed: the input multiplied at each step with the hidden values, or the input "
        "of many steps as one product before they are walked.",
    .family = "kernel",
    .values = {"auto", "step", "sequence"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "gru",
}};

const Knob<Word> compute_format{{
    .name = "format.compute",
    .help =
        "What convolutions and matrix products are computed in. bf16 rounds both operands and sums in f32, wherever a "
        "kernel and the target (AVX512_BF16) can; it goes before conv.algorithm and matmul.algorithm. `any` lets bf16 "
        "compete with what fp32 alone has, such as Winograd.",
    .family = "format",
    .values = {"fp32", "any", "bf16"},
    .numerics = Numerics::reduced,
    .scope = Scope::site,
    .witness = "conv_chain",
    .witness_target = "isa=avx512 bf16=1",
}};

const Knob<Word> kernel_isa{{
    .name = "kernel.isa",
    .help = "Widest instruction set that kernels may use. Narrower vectors can win where channels do not fill wide "
            "ones, on short rows, and where wide ones lower the clock.",
    .family = "kernel",
    .values = {"best", "avx2", "baseline"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "conv_chain",
}};

const Knob<int64_t> winograd_min_channels{{
    .name = "conv.winograd_min_channels",
    .help = "Fewest input and output channels from which Winograd is considered by default.",
    .family = "kernel",
    .values = {16, 1, 8, 32, 64},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "winograd_small",
}};

const Knob<int64_t> winograd_min_pixels{{
    .name = "conv.winograd_min_pixels",
    .help = "Smallest output height and width from which Winograd is considered by default.",
    .family = "kernel",
    .values = {7, 1, 4, 14, 28, 56},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "winograd_small",
}};

const Knob<int64_t> winograd_largest{{
    .name = "conv.winograd_largest",
    .help =
        "Largest output tile of Winograd that is considered by default. F(6,3) multiplies a fifth less than F(4,3), "
        "but its sums cancel ten times as much: for networks and tolerances that bear an error of 1e-5 a layer.",
    .family = "kernel",
    .values = {4, 2, 6},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "winograd_wide",
}};

const Knob<int64_t> gemv_max_rows{{
    .name = "matmul.gemv_max_rows",
    .help = "Most rows of the left operand for which the matrix-vector kernel is considered by default.",
    .family = "kernel",
    .values = {4, 1, 2, 8},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "matmul_rows",
    .witness_target = "avx2",
}};

// Off by default: a row shares its sums with the row half the matrix below, so that large values in one, of another
// image or sequence perhaps, cost the other digits, and a NaN reaches both. The gate of a tuning run sees whether a
// network bears it.
const Knob<int64_t> strassen_min{{
    .name = "matmul.strassen_min",
    .help =
        "Least rows, depth and columns of a product from which Strassen's seven products of quarters are considered; 0 "
        "= never. For large dense layers, 5 to 10 % faster on one core; weights take seven quarters of their bytes.",
    .family = "kernel",
    .values = {0, 128, 256, 512, 1024},
    .numerics = Numerics::approximates,
    .scope = Scope::site,
    .witness = "matmul_large",
}};

Verdict strassen_threshold(const Problem& problem, const Route& route, const std::vector<std::string>& origins) {
    const int64_t least = route.get(strassen_min, origins);
    const Shape& dst = problem.dst.front().shape;
    const int64_t columns = dst.rank() == 0 ? 1 : std::max<int64_t>(1, dst.back());
    const int64_t rows = dst.elements() / columns;
    const int64_t depth = problem.src[1]->shape.elements() / columns;
    const int64_t extent = std::min({rows, columns, depth});
    if (least > 0 && extent >= least) return Verdict::yes();
    return Verdict::no(Reason::threshold,
                       std::to_string(extent) + " (matmul.strassen_min " + std::to_string(least) + ")");
}

Verdict winograd_threshold(const std::string& algorithm, const Problem& problem, const Route& route,
                           const std::vector<std::string>& origins) {
    const int64_t largest = route.get(winograd_largest, origins);
    if (algorithm > "winograd" + std::to_string(largest))
        return Verdict::no(Reason::threshold, algorithm + " (conv.winograd_largest " + std::to_string(largest) + ")");
    const Shape& dst = problem.dst.front().shape;
    const int64_t channels = std::min(problem.src[0]->shape[1], dst[1]);
    const int64_t need = route.get(winograd_min_channels, origins);
    if (channels < need)
        return Verdict::no(Reason::threshold, std::to_string(channels) + " channels (conv.winograd_min_channels " +
                                                  std::to_string(need) + ")");
    const int64_t pixels = std::min(dst[dst.rank() - 1], dst[dst.rank() - 2]);
    const int64_t need_pixels = route.get(winograd_min_pixels, origins);
    if (pixels < need_pixels)
        return Verdict::no(Reason::threshold, std::to_string(pixels) + " pixels (conv.winograd_min_pixels " +
                                                  std::to_string(need_pixels) + ")");
    return Verdict::yes();
}

}  // namespace

std::string forced_algorithm(const std::string& op, const Route& route, const std::vector<std::string>& origins) {
    Word word = "auto";
    if (op == "Conv") word = route.get(conv_algorithm, origins);
    if (op == "ConvTranspose") word = route.get(deconv_algorithm, origins);
    if (op == "MatMul" || op == "Gemm") word = route.get(matmul_algorithm, origins);
    if (op == "headway/StridedAttention") word = route.get(attention_algorithm, origins);
    if (op == "LSTM" || op == "GRU" || op == "RNN") word = route.get(recurrent_algorithm, origins);
    return word == "auto" ? "" : std::string(word);
}

std::optional<ComputeFormat> wanted_format(const Route& route, const std::vector<std::string>& origins) {
    const Word word = route.get(compute_format, origins);
    for (ComputeFormat format : {ComputeFormat::fp32, ComputeFormat::bf16})
        if (word == to_string(format)) return format;
    return std::nullopt;
}

Verdict allowed_isa(Isa isa, const Route& route, const std::vector<std::string>& origins) {
    const Word widest = route.get(kernel_isa, origins);
    if (widest == "best" || to_string(isa) == widest || isa == Isa::baseline) return Verdict::yes();
    return Verdict::no(Reason::knob, "kernel.isa=" + std::string(widest));
}

Verdict above_thresholds(const Kernel& kernel, const Problem& problem, const Route& route,
                         const std::vector<std::string>& origins) {
    const std::string& algorithm = kernel.fields().algorithm;
    if (algorithm.starts_with("winograd") && problem.op == "Conv" && problem.dst.front().shape.rank() >= 4)
        return winograd_threshold(algorithm, problem, route, origins);
    if (algorithm == "strassen") return strassen_threshold(problem, route, origins);
    if (algorithm == "gemv" && problem.dst.front().shape.rank() >= 2) {
        const Shape& dst = problem.dst.front().shape;
        const int64_t rows = dst[dst.rank() - 2];
        const int64_t most = route.get(gemv_max_rows, origins);
        if (rows > most)
            return Verdict::no(Reason::threshold,
                               std::to_string(rows) + " rows (matmul.gemv_max_rows " + std::to_string(most) + ")");
    }
    return Verdict::yes();
}

}  // namespace headway
