// Matrix products of 8-bit integers that ONNX Runtime's quantiser writes, and of weights packed in blocks.
#include "base/checked.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/gemm.h"
#include "ops/product.h"
#include "ops/quantize.h"
#include "ops/quantized_products.h"

namespace headway {
namespace {

// A bias has one entry for each column.
void check_product_bias(const InferContext& context, size_t input, ElementType type, int64_t columns) {
    if (context.has(input) && (context.shape(input) != Shape{columns} || context.type(input) != type))
        throw UserError("its bias of " + context.shape(input).text() + " does not fit " + std::to_string(columns) +
                        " columns");
}

void add_product_bias(const ReferenceContext& context, size_t input, std::vector<double>& y) {
    if (!context.has(input)) return;
    const std::vector<double> bias = doubles_of(context.in(input));
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
}

constexpr QuantizedPlace to_float_left{0, 4, 2};
constexpr QuantizedPlace to_float_right{1, 5, 3};

void infer_integer_to_float(InferContext& context) {
    for (size_t i : {2, 3})
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    const MatmulShapes shapes = matmul_shapes(context.shape(0), context.shape(1));
    check_quantized(context, to_float_left, 1);
    check_quantized(context, to_float_right, shapes.columns);
    check_product_bias(context, 6, context.type(2), shapes.columns);
    context.set_output(0, context.type(2), shapes.output());
}

void integer_to_float_reference(const ReferenceContext& context) {
    const MatmulShapes shapes = matmul_shapes(context.in(0).shape(), context.in(1).shape());
    std::vector<double> y = scaled_quantized_matmul(context, shapes, to_float_left, to_float_right);
    add_product_bias(context, 6, y);
    store_doubles(y, context.out(0));
}

constexpr QuantizedPlace dynamic_right{1, 3, 2};

void infer_dynamic_matmul(InferContext& context) {
    if (!context.has(2)) throw UserError("input 2 is missing");
    const MatmulShapes shapes = matmul_shapes(context.shape(0), context.shape(1));
    check_quantized(context, dynamic_right, shapes.columns);
    check_product_bias(context, 4, context.type(0), shapes.columns);
    context.set_output(0, context.type(0), shapes.output());
}

void dynamic_matmul_reference(const ReferenceContext& context) {
    const MatmulShapes shapes = matmul_shapes(context.in(0).shape(), context.in(1).shape());
    std::vector<double> a = doubles_of(context.in(0));
    const DynamicRange range = DynamicRange::of(a);
    for (double& value : a) value = range.quantized(value) - range.zero;
    std::vector<double> y = multiply_matrices(shapes, a, without_zero(context, dynamic_right, shapes.columns, 1));
    const std::vector<double> scale = per_line(context, dynamic_right.scale, shapes.columns);
    for (size_t i = 0; i < y.size(); ++i) y[i] *= range.scale * scale[i % scale.size()];
    add_product_bias(context, 4, y);
    store_doubles(y, context.out(0));
}

constexpr QuantizedPlace gemm_left{0, 2, 1};
constexpr QuantizedPlace gemm_right{3, 5, 4};

void infer_qgemm(InferContext& context) {
    for (size_t i : {1, 2, 3, 4, 5})
        if (!context.has(i)) throw UserError("input " + std::to_string(i) + " is missing");
    const GemmShapes shapes = GemmShapes::of(context.attributes(), context.shape(0), context.shape(3));
    check_quantized(context, gemm_left, 1);
    check_quantized(context, gemm_right, shapes.columns);
    if (context.has(6)) {
        if (context.type(6) != ElementType::i32) throw UserError("C is not i32");
        shapes.require_fitting_c(context.shape(6));
    }
    if (context.has(7) != context.has(8)) throw UserError("an output has a scale or a zero point alone");
    if (context.has(7)) {
        integer_range(context.type(8));  // refuses other types
        LinearScale::check(context, context.type(8), 7, 8);
    }
    context.set_output(0, context.has(8) ? context.type(8) : ElementType::f32, shapes.output());
}

// C is added to the sums of integers, before any scale.
void qgemm_reference(const ReferenceContext& context) {
    const GemmShapes shapes = GemmShapes::of(context.attributes, context.in(0).shape(), context.in(3).shape());
    const Shape& b = context.in(3).shape();
    std::vector<double> y =
        multiply_gemm(shapes, without_zero(context, gemm_left, 1, 1),
                      without_zero(context, gemm_right, shapes.columns, shapes.transposed_b ? b[1] : 1));
    if (context.has(6)) add_gemm_c(shapes, context.in(6), 1, y);
    const std::vector<double> scale = per_line(context, gemm_right.scale, shapes.columns);
    const double common = context.attributes.real("alpha", 1.0F) * context.in(1).at(0);
    for (size_t i = 0; i < y.size(); ++i) y[i] *= common * scale[i % scale.size()];
    if (context.has(7))
        LinearScale::of(context, 7, 8).store(y, context.out(0));
    else
        store_doubles(y, context.out(0));
}

// Weights of N rows of K, each in blocks of `block` integers of `bits`, the first in the lowest bits.
struct BlockedWeights {
    int64_t n, k, bits, block, blocks;

    static BlockedWeights of(const Attributes& attributes) {
        const BlockedWeights w{attributes.integer("N", 0), attributes.integer("K", 0), attributes.integer("bits", 4),
                               attributes.integer("block_size", 0), 0};
        if (w.bits != 2 && w.bits != 4 && w.bits != 8) throw Unsupported("weights of other than 2, 4 or 8 bits");
        if (w.n < 1 || w.k < 1 || w.block < 16 || (w.block & (w.block - 1)) != 0)
            throw UserError("attributes N, K and block_size do not describe weights");
        return {w.n, w.k, w.bits, w.block, ceil_div(w.k, w.block)};
    }
    int64_t block_bytes() const { return block / 8 * bits; }
    int64_t zero_bytes() const { return ceil_div(checked_mul(blocks, bits, "zero points"), 8); }  // of one row
    double at(const uint8_t* bytes, int64_t index) const {
        const int64_t first = index * bits;
        return (bytes[first / 8] >> (first % 8)) & ((1 << bits) - 1);
    }
};

// Some files flatten all axes into one.
void check_blocked(const InferContext& context, size_t input, const Shape& wanted, const char* name) {
    if (context.shape(input) != wanted && context.shape(input) != Shape{wanted.elements()})
        throw UserError(std::string(name) + " of " + context.shape(input).text() + " should be " + wanted.text());
}

void infer_matmul_nbits(InferContext& context) {
    const BlockedWeights w = BlockedWeights::of(context.attributes());
    if (context.has(4)) throw Unsupported("g_idx is not handled");
    if (context.attributes().integer("weight_prepacked", 0) != 0)
        throw Unsupported("weights packed for one machine are not handled");
    if (context.type(1) != ElementType::u8) throw Unsupported("packed weights of another type than u8");
    if (context.type(2) != context.type(0)) throw UserError("its scales have another type than its input");
    check_blocked(context, 1, {w.n, w.blocks, w.block_bytes()}, "B");
    check_blocked(context, 2, {w.n, w.blocks}, "its scale");
    if (context.has(3)) {
        const bool is_packed = context.type(3) == ElementType::u8;
        if (!is_packed && context.type(3) != context.type(0)) throw UserError("its zero points have a wrong type");
        check_blocked(context, 3, {w.n, is_packed ? w.zero_bytes() : w.blocks}, "its zero points");
    }
    check_product_bias(context, 5, context.type(0), w.n);
    Shape y = context.shape(0);
    if (y.rank() == 0 || y.back() != w.k)
        throw UserError("an input of " + y.text() + " does not fit weights of " + std::to_string(w.k) + " columns");
    y[y.rank() - 1] = w.n;
    context.set_output(0, context.type(0), y);
}

// K x N, as a product reads them.
std::vector<double> unpacked_weights(const ReferenceContext& context, const BlockedWeights& w) {
    const uint8_t* bytes = stored<uint8_t>(context.in(1));
    const std::vector<double> scale = doubles_of(context.in(2));
    const bool has_zero = context.has(3);
    const bool is_packed = has_zero && context.in(3).type() == ElementType::u8;
    const std::vector<double> zero = has_zero && !is_packed ? doubles_of(context.in(3)) : std::vector<double>{};
    std::vector<double> weights = zeros(w.k * w.n);
    for (int64_t row = 0; row < w.n; ++row)
        for (int64_t i = 0; i < w.k; ++i) {
            const int64_t block = i / w.block;
            const auto entry = static_cast<size_t>(row * w.blocks + block);
            double offset = static_cast<double>(1 << (w.bits - 1));
            if (is_packed) offset = w.at(stored<uint8_t>(context.in(3)) + row * w.zero_bytes(), block);
            if (!zero.empty()) offset = zero[entry];
            const double value = w.at(bytes + static_cast<int64_t>(entry) * w.block_bytes(), i % w.block);
            weights[static_cast<size_t>(i * w.n + row)] = (value - offset) * scale[entry];
        }
    return weights;
}

void matmul_nbits_reference(const ReferenceContext& context) {
    const BlockedWeights w = BlockedWeights::of(context.attributes);
    const std::vector<double> x = doubles_of(context.in(0));
    std::vector<double> y = zeros(context.out(0).elements());
    multiply(x.data(), unpacked_weights(context, w).data(), y.data(), static_cast<int64_t>(x.size()) / w.k, w.n, w.k);
    add_product_bias(context, 5, y);
    store_doubles(y, context.out(0));
}

constexpr TypeSet product_byte_types{ElementType::i8, ElementType::u8};

}  // namespace

const Op matmul_integer_to_float_op{{
    .name = "MatMulIntegerToFloat",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 7},
    .types = product_byte_types,
    .infer = infer_integer_to_float,
    .reference = integer_to_float_reference,
    .help = "MatMulInteger, multiplied by both scales (that of b one, or one per column), plus a bias.",
}};

const Op dynamic_quantize_matmul_op{{
    .name = "DynamicQuantizeMatMul",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {2, 5},
    .types = {ElementType::f32},
    .infer = infer_dynamic_matmul,
    .reference = dynamic_matmul_reference,
    // A value between two integers may fall on either side of the edge.
    .tolerance = {.relative = 1e-2, .absolute = 1e-3},
    .help = "MatMulIntegerToFloat of an input that is quantised to u8 by its range, as DynamicQuantizeLinear does.",
}};

const Op qgemm_op{{
    .name = "QGemm",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {1, 9},
    .types = product_byte_types,
    .attributes = {{"alpha", "float", "1.0", "scale of the product and C"},
                   {"transA", "int", "0", "1: A is transposed"},
                   {"transB", "int", "0", "1: B is transposed"}},
    .infer = infer_qgemm,
    .reference = qgemm_reference,
    .help = "Gemm of quantised matrices with C in i32, quantised again or, without a scale of the output, as f32.",
}};

const Op matmul_nbits_op{{
    .name = "MatMulNBits",
    .domain = "com.microsoft",
    .since = {1},
    .inputs = {3, 6},
    .types = float_types,
    .attributes = {{"K", "int", "", "columns of the input"},
                   {"N", "int", "", "columns of the output"},
                   {"accuracy_level", "int", "", "not read: the reference computes in double"},
                   {"bits", "int", "4", "2, 4 or 8"},
                   {"block_size", "int", "",
                    "weights along K that share a scale and zero point: a power of two from 16"},
                   {"weight_prepacked", "int", "0", "only 0"}},
    .infer = infer_matmul_nbits,
    .reference = matmul_nbits_reference,
    .help = "MatMul with weights of a few bits in blocks along K, less a zero point (half the range by default; packed "
            "as the weights are, or of the input's type) and times a scale of each block.",
}};

}  // namespace headway
