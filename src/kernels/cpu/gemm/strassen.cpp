#include "kernels/cpu/gemm/strassen.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/gemm/epilogue.h"
#include "kernels/cpu/gemm/product.h"

namespace headway {
namespace {

constexpr int64_t float_bytes = sizeof(float);

// A quarter that a product is added to, once it stands where it was computed.
struct Addition {
    int quarter;
    int sign;
    bool with_bias;
};
// One of the seven products: the signs of the quarters 11, 12, 21, 22 in its factors, and the quarter that it is
// computed in, or -1 for a place of its own. A quarter that a product is computed in for good begins with the bias.
struct Seventh {
    std::array<int, 4> a, b;
    int place;
    bool begins_with_bias;
    std::array<Addition, 2> additions;
    int additions_count;
};
// In an order in which four of the seven need no place of their own and eight additions are left of Strassen's twelve.
constexpr std::array<Seventh, 7> sevenths{{
    {{0, 1, 0, -1}, {0, 0, 1, 1}, 0, true, {}, 0},
    {{-1, 0, 1, 0}, {1, 1, 0, 0}, 3, true, {}, 0},
    {{1, 0, 0, 0}, {0, 1, 0, -1}, 1, false, {{{3, 1, false}}}, 1},
    {{0, 0, 1, 1}, {1, 0, 0, 0}, 2, false, {{{3, -1, false}}}, 1},
    {{1, 1, 0, 0}, {0, 0, 0, 1}, -1, false, {{{0, -1, false}, {1, 1, true}}}, 2},
    {{0, 0, 0, 1}, {-1, 0, 1, 0}, -1, false, {{{0, 1, false}, {2, 1, true}}}, 2},
    {{1, 0, 0, 1}, {1, 0, 0, 1}, -1, false, {{{0, 1, false}, {3, 1, false}}}, 2},
}};

// The quarters that a factor is made of: one alone, or `first` + sign * `second`.
struct Factor {
    int first, second;  // second: -1 = none
    int sign;
};
constexpr Factor factor_of(const std::array<int, 4>& signs) {
    Factor factor{-1, -1, 1};
    for (int q = 0; q < 4; ++q)
        if (signs[static_cast<size_t>(q)] > 0 && factor.first < 0) factor.first = q;
    for (int q = 0; q < 4; ++q)
        if (signs[static_cast<size_t>(q)] != 0 && q != factor.first)
            factor.second = q, factor.sign = signs[static_cast<size_t>(q)];
    return factor;
}

constexpr int64_t factors = sevenths.size();
constexpr int64_t sums_of_a = 5;  // the other two of the seven are quarters as they are

// How the quarters of a product are cut. A block of columns is so narrow that its part of a product stays in the
// first-level cache between the tiles that write it and the updates that read it.
struct Quarters {
    int64_t m, n, k;  // of a quarter; of the rows the upper half, which may have one more
    int64_t rows;     // of a block
    Panels panels;
    std::vector<ColumnBlock> columns;

    Quarters(const ProductGeometry& g, const GemmMicro& micro, const Target& target, const Choices& choices)
        : m(ceil_div(g.m, 2)), n(g.n / 2), k(g.k / 2), panels(micro, k, n) {
        constexpr int64_t most_rows = 96;
        const int64_t tile_rows = micro.rows[2], tile_columns = int64_t{2} * micro.lanes;
        const int64_t mc = choices.get(gemm_mc_knob), nc = choices.get(gemm_nc_knob);
        rows = mc > 0 ? mc : round_up(ceil_div(m, ceil_div(m, most_rows)), tile_rows);
        const int64_t cached = target.l1_bytes / 2 / float_bytes / rows;
        // Enough blocks for all threads.
        const int64_t shared = n * ceil_div(m, rows) / (int64_t{3} * target.threads);
        const int64_t wanted = nc > 0 ? nc : std::min(cached, shared);
        columns = column_blocks(panels, std::max(tile_columns, wanted / tile_columns * tile_columns));
    }

    // The right factors' panels lie in the order in which they are read: of each block of columns all seven. Where
    // matrix p would begin so that Panels' own offsets lead to its part of the block.
    int64_t matrix_at(const ColumnBlock& block, size_t p) const {
        const std::span<const Panel> list = panels.list();
        const int64_t begin = list[block.panel_begin].b_offset;
        const int64_t end = block.panel_end < list.size() ? list[block.panel_end].b_offset : panels.size();
        return (factors - 1) * begin + static_cast<int64_t>(p) * (end - begin);
    }
};

class Strassen final : public Prepared {
public:
    Strassen(const GemmMicro& micro, const QuarterSums& sums, Isa isa, const Problem& problem, const Target& target,
             const Choices& choices)
        : g_(product_geometry(problem)),
          micro_(micro),
          sums_(sums),
          q_(g_, micro, target, choices),
          epilogue_(problem, Epilogue::View::last_dim, isa),
          walk_(choose_walk(choices)),
          zeros_(static_cast<size_t>(std::max({q_.panels.init_size(), g_.n, q_.k})), 0.0F),
          row_blocks_(ceil_div(q_.m, q_.rows)),
          pointer_bytes_(round_up(factors * q_.rows * static_cast<int64_t>(sizeof(float*)), 64)) {
        for (const ColumnBlock& block : q_.columns) widest_ = std::max(widest_, block.columns);
    }

    int phases() const override { return 2; }
    int64_t tiles(int phase) const override {
        return phase == 0 ? ceil_div(q_.m, rows_summed) : static_cast<int64_t>(q_.columns.size()) * row_blocks_;
    }
    int64_t workspace_bytes() const override {
        return checked_mul(sums_of_a * q_.k * float_bytes, q_.m, "sums of quarters");
    }
    int64_t scratch_bytes() const override { return pointer_bytes_ + q_.rows * widest_ * float_bytes; }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        if (phase == 0) return add_rows(args, begin * rows_summed, std::min(q_.m, end * rows_summed));
        for (int64_t tile = begin; tile < end; ++tile)
            multiply_tile(args, q_.columns[static_cast<size_t>(tile / row_blocks_)], tile % row_blocks_);
    }

private:
    static constexpr int64_t rows_summed = 8;

    // A row of a quarter of the left operand; of an odd number of rows the lower half lacks one.
    const float* row_of(const Args& args, int quarter, int64_t row) const {
        const int64_t whole = row + (quarter >= 2 ? q_.m : 0);
        if (whole >= g_.m) return zeros_.data();
        return reinterpret_cast<const float*>(args.src[0]) + whole * g_.k + (quarter % 2 == 0 ? 0 : q_.k);
    }

    float* sum_at(const Args& args, int64_t sum, int64_t row) const {
        return reinterpret_cast<float*>(args.workspace) + (sum * q_.m + row) * q_.k;
    }

    void add_rows(const Args& args, int64_t begin, int64_t end) const {
        int64_t sum = 0;
        for (const Seventh& seventh : sevenths) {
            const Factor a = factor_of(seventh.a);
            if (a.second < 0) continue;
            for (int64_t row = begin; row < end; ++row)
                sums_.add(row_of(args, a.first, row), row_of(args, a.second, row), static_cast<float>(a.sign), q_.k,
                          sum_at(args, sum, row));
            ++sum;
        }
    }

    // The same block of all four quarters of the result.
    void multiply_tile(const Args& args, const ColumnBlock& columns, int64_t row_block) const {
        const int64_t row = row_block * q_.rows, rows = std::min(q_.rows, q_.m - row);
        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        point_at_factors(args, row, rows, pointers);
        float* product = reinterpret_cast<float*>(args.scratch + pointer_bytes_);
        const float* weights = reinterpret_cast<const float*>(args.packed[0]);
        for (size_t p = 0; p < sevenths.size(); ++p) {
            const Seventh& seventh = sevenths[p];
            const Area area = seventh.place < 0 ? Area{product - columns.column, widest_, rows}
                                                : area_of(args, seventh.place, row, rows);
            const float* init = seventh.begins_with_bias ? bias(args, seventh.place) : zeros_.data();
            const PackedMatrix b{&micro_, &q_.panels, WeightFormat::f32,
                                 reinterpret_cast<const std::byte*>(weights + q_.matrix_at(columns, p)), init};
            multiply_block(b, {pointers + static_cast<int64_t>(p) * rows, rows, 1, q_.k}, area.rows,
                           columns.panel_begin, columns.panel_end, walk_, area.at, area.step);
            for (int i = 0; i < seventh.additions_count; ++i)
                add(args, seventh.additions[static_cast<size_t>(i)], area, columns, row, rows);
        }
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t quarter = 0; quarter < 4; ++quarter)
            epilogue_.apply(args.operands, dst, row + quarter / 2 * q_.m, rows_in(quarter, row, rows),
                            columns.column + quarter % 2 * q_.n, columns.columns);
    }

    void point_at_factors(const Args& args, int64_t row, int64_t rows, const float** pointers) const {
        int64_t sum = 0;
        for (const Seventh& seventh : sevenths) {
            const Factor a = factor_of(seventh.a);
            for (int64_t r = row; r < row + rows; ++r)
                *pointers++ = a.second < 0 ? row_of(args, a.first, r) : sum_at(args, sum, r);
            if (a.second >= 0) ++sum;
        }
    }

    // Where rows of a product stand; `at` is their column 0.
    struct Area {
        float* at;
        int64_t step, rows;
    };

    int64_t rows_in(int64_t quarter, int64_t row, int64_t rows) const {
        return quarter < 2 ? rows : std::min(rows, g_.m - q_.m - row);
    }

    Area area_of(const Args& args, int quarter, int64_t row, int64_t rows) const {
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        return {dst + (row + quarter / 2 * q_.m) * g_.n + quarter % 2 * q_.n, g_.n, rows_in(quarter, row, rows)};
    }

    const float* bias(const Args& args, int quarter) const {
        if (g_.addend != ProductGeometry::Addend::columns) return zeros_.data();
        return reinterpret_cast<const float*>(args.packed[1]) + quarter % 2 * q_.n;
    }

    void add(const Args& args, const Addition& addition, const Area& from, const ColumnBlock& columns, int64_t row,
             int64_t rows) const {
        const Area to = area_of(args, addition.quarter, row, rows);
        const float* init = addition.with_bias ? bias(args, addition.quarter) : zeros_.data();
        sums_.update({from.at + columns.column, from.step, to.at + columns.column, to.step, init + columns.column,
                      static_cast<float>(addition.sign), to.rows, columns.columns});
    }

    ProductGeometry g_;
    const GemmMicro& micro_;
    const QuarterSums& sums_;
    Quarters q_;
    Epilogue epilogue_;
    Walk walk_;
    std::vector<float> zeros_;
    int64_t row_blocks_, pointer_bytes_, widest_ = 0;
};

std::vector<Tensor> pack(const GemmMicro& micro, const Problem& problem, const Target& target, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const ProductGeometry g = product_geometry(problem);
    const Quarters q(g, micro, target, choices);
    const int64_t n = q.n, k = q.k;
    std::vector<Tensor> blobs;
    blobs.push_back(packed_storage(q.panels, factors, WeightFormat::f32));
    float* packed = blobs[0].mutable_data<float>().data();
    const float* source = constants[1]->data<float>().data();
    std::vector<float> factor(static_cast<size_t>(k * n));
    for (size_t p = 0; p < sevenths.size(); ++p) {
        const Factor b = factor_of(sevenths[p].b);
        const auto at = [&](int quarter, int64_t row, int64_t column) {
            return source[(row + (quarter >= 2 ? k : 0)) * g.b_k_step + (column + (quarter % 2) * n) * g.b_n_step];
        };
        for (int64_t row = 0; row < k; ++row)
            for (int64_t column = 0; column < n; ++column) {
                float& value = factor[static_cast<size_t>(row * n + column)];
                value = at(b.first, row, column);
                if (b.second >= 0) value += static_cast<float>(b.sign) * at(b.second, row, column);
            }
        for (const ColumnBlock& block : q.columns)
            for (size_t panel = block.panel_begin; panel < block.panel_end; ++panel)
                q.panels.pack_panel(panel, factor.data(), n, 1, g.alpha, packed + q.matrix_at(block, p));
    }
    if (g.addend != ProductGeometry::Addend::columns) return blobs;
    Tensor bias(ElementType::f32, Shape{g.n});
    const Tensor& addend = *constants[2];
    for (int64_t column = 0; column < g.n; ++column)
        bias.set(column, addend.at(addend.elements() == 1 ? 0 : column) * double{g.beta});
    blobs.push_back(std::move(bias));
    return blobs;
}

Verdict supports(const Problem& problem, const Choices& choices) {
    ProductGeometry g;
    if (Verdict verdict = read_product(problem, g); !verdict) return verdict;
    if (!g.constant_b) return Verdict::no(Reason::needs_constant, "sums of the right operand's quarters are packed");
    if (g.constant_a) return Verdict::no(Reason::needs_constant, "the left operand is known");
    if (weight_format(choices) != WeightFormat::f32) return Verdict::no(Reason::knob, "format.weights");
    if (g.items.size() != 1 || g.b_count != 1) return Verdict::no(Reason::shape, "a batch of products");
    if (g.a_k_step != 1) return Verdict::no(Reason::attribute, "transA");
    if (g.addend == ProductGeometry::Addend::tensor) return Verdict::no(Reason::shape, "a tensor is added");
    if (g.m < 2 || g.n < 2 || g.k < 2 || g.n % 2 != 0 || g.k % 2 != 0)
        return Verdict::no(Reason::shape, std::to_string(g.m) + " x " + std::to_string(g.k) + " by " +
                                              std::to_string(g.n) + " (needs even depth and columns, and two rows)");
    return Verdict::yes();
}

Work work_of(const GemmMicro& micro, const Problem& problem) {
    const ProductGeometry g = product_geometry(problem);
    const auto real = [](int64_t x) { return static_cast<double>(x); };
    const Panels panels(micro, g.k / 2, g.n / 2);
    const double m = real(ceil_div(g.m, int64_t{2})), k = real(g.k / 2), n = real(panels.padded_n());
    const double products = real(factors);
    Work work{products * 2 * m * k * n, 0, 0};
    const double sums = real(sums_of_a) * m * k;  // written, and read again
    work.bytes =
        real(problem.src[0]->bytes() + problem.dst[0].bytes()) + (2 * sums + products * k * n) * real(float_bytes);
    for (const TensorDesc& operand : problem.operands) work.bytes += real(operand.bytes());
    // Eight additions into the result stand beside depth / 2 multiply-adds for each of its elements; measured on AMD
    // Zen 5.
    const double depth = k / (k + 24);
    work.efficiency = 0.92 * std::min(1.0, m * 2 / 8) * depth;
    return work;
}

}  // namespace

Kernel::Fields strassen_matmul(Isa isa, std::string_view isa_name, const GemmMicro& micro, const QuarterSums& sums) {
    Kernel::Fields fields;
    fields.name = "matmul.strassen." + std::string(isa_name);
    fields.algorithm = "strassen";
    fields.help = "Seven products of quarters of the operands instead of eight.";
    fields.ops = {"MatMul", "Gemm"};
    fields.isa = isa;
    fields.numerics = Numerics::approximates;
    fields.knobs = {&gemm_mc_knob, &gemm_nc_knob, &gemm_kc_knob, &gemm_prefetch_knob, &weight_format_knob};
    fields.supports = [](const Problem& problem, const Target&, const Choices& choices) {
        return supports(problem, choices);
    };
    fields.work = [&micro](const Problem& problem, const Target&, const Choices&) { return work_of(micro, problem); };
    fields.pack = [&micro](const Problem& problem, const Target& target, const Choices& choices,
                           std::span<const Tensor* const> constants) {
        return pack(micro, problem, target, choices, constants);
    };
    fields.prepare = [isa, &micro, &sums](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<Strassen>(micro, sums, isa, problem, target, choices);
    };
    return fields;
}

namespace {

const Kernel strassen_baseline{
    strassen_matmul(Isa::baseline, "baseline", gemm_micro(Isa::baseline), quarter_sums(Isa::baseline))};
const Kernel strassen_avx2{strassen_matmul(Isa::avx2, "avx2", gemm_micro(Isa::avx2), quarter_sums(Isa::avx2))};
const Kernel strassen_avx512{
    strassen_matmul(Isa::avx512, "avx512", gemm_micro(Isa::avx512), quarter_sums(Isa::avx512))};

}  // namespace
}  // namespace headway
