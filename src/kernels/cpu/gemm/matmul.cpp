#include "kernels/cpu/gemm/matmul.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "kernels/cpu/gemm/block.h"
#include "kernels/cpu/gemm/epilogue.h"
#include "kernels/cpu/gemm/product.h"
#include "kernels/cpu/gemm/rounded_rows.h"

namespace headway {
namespace {

constexpr int64_t float_bytes = sizeof(float);

// Whether the right operand may be read where it lies.
bool is_packed_form(const ProductGeometry& g, const Panels& panels) {
    return panels.is_row_major() && g.b_k_step == g.n && g.b_n_step == 1 && g.alpha == 1.0F;
}

class MatmulPrepared final : public Prepared {
public:
    MatmulPrepared(const GemmMicro& micro, Panels::Shape shape, Isa isa, const Problem& problem, const Target& target,
                   const Choices& choices)
        : g_(product_geometry(problem)),
          micro_(micro),
          format_(g_.constant_b ? weight_format(micro, choices) : WeightFormat::f32),
          panels_(micro, g_.k, g_.n, shape),
          epilogue_(with_addend_in_epilogue(problem, g_), Epilogue::View::last_dim, isa),
          operands_(problem.operands.size()),
          blocking_(choose_blocking(g_.m, g_.n, panels_.k(), micro, target, choices)),
          columns_(column_blocks(panels_, blocking_.columns)),
          zeros_(static_cast<size_t>(panels_.init_size()), 0.0F) {
        row_blocks_ = g_.m == 0 ? 0 : ceil_div(g_.m, blocking_.rows);
        takes_b_as_it_is_ = !g_.constant_b && is_packed_form(g_, panels_);
        packs_in_tile_ = !g_.constant_b && !takes_b_as_it_is_ && row_blocks_ <= 1 && columns_.size() <= 1;
        pointer_bytes_ = round_up(blocking_.rows * static_cast<int64_t>(sizeof(float*)), 64);
        turned_bytes_ = g_.a_k_step == 1 ? 0 : round_up(blocking_.rows * g_.k * float_bytes, 64);
        rounded_bytes_ = micro.computes_in_bf16() ? rounded_bytes(blocking_.rows, g_.k) : 0;
    }

    int phases() const override { return g_.constant_b || takes_b_as_it_is_ || packs_in_tile_ ? 1 : 2; }
    int64_t tiles(int phase) const override {
        if (phase + 1 < phases()) return g_.b_count * static_cast<int64_t>(columns_.size());
        return static_cast<int64_t>(g_.items.size() * columns_.size()) * row_blocks_;
    }
    int64_t workspace_bytes() const override {
        return phases() == 1 ? 0 : checked_mul(g_.b_count, panels_.size() * float_bytes, "packed operand");
    }
    int64_t scratch_bytes() const override {
        return pointer_bytes_ + turned_bytes_ + rounded_bytes_ + (packs_in_tile_ ? panels_.size() * float_bytes : 0);
    }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            if (phase + 1 < phases())
                pack_tile(args, tile);
            else
                multiply_tile(args, tile);
        }
    }

private:
    void pack_columns(const Args& args, int64_t matrix, const ColumnBlock& block, float* packed) const {
        const float* b = reinterpret_cast<const float*>(args.src[1]) + matrix * g_.k * g_.n;
        for (size_t panel = block.panel_begin; panel < block.panel_end; ++panel)
            panels_.pack_panel(panel, b, g_.b_k_step, g_.b_n_step, g_.alpha, packed);
    }

    void pack_tile(const Args& args, int64_t tile) const {
        const int64_t count = static_cast<int64_t>(columns_.size());
        float* packed = reinterpret_cast<float*>(args.workspace) + tile / count * panels_.size();
        pack_columns(args, tile / count, columns_[static_cast<size_t>(tile % count)], packed);
    }

    // Tiles in the order (product, columns, rows): the columns' weights stay in cache while the rows pass by.
    void multiply_tile(const Args& args, int64_t tile) const {
        const int64_t rows_at = tile % row_blocks_;
        const int64_t rest = tile / row_blocks_;
        const ColumnBlock& columns = columns_[static_cast<size_t>(rest) % columns_.size()];
        const ProductGeometry::Item& item = g_.items[static_cast<size_t>(rest) / columns_.size()];
        const int64_t row = rows_at * blocking_.rows, rows = std::min(blocking_.rows, g_.m - row);

        const float** pointers = reinterpret_cast<const float**>(args.scratch);
        point_at_rows(left(args) + item.a + row * g_.a_row_step, rows, pointers,
                      reinterpret_cast<float*>(args.scratch + pointer_bytes_));
        const PackedMatrix b{&micro_, &panels_, format_, packed_matrix(args, item.b_index, columns), init(args)};
        float* dst = reinterpret_cast<float*>(args.dst[0]);
        RowPointers a{pointers, rows, 1, g_.k};
        if (micro_.computes_in_bf16()) a = round_rows(micro_, a, rows, args.scratch + pointer_bytes_ + turned_bytes_);
        multiply_block(b, a, rows, columns.panel_begin, columns.panel_end, blocking_.walk, dst + item.c + row * g_.n,
                       g_.n);
        finish(args, dst, item.c / std::max<int64_t>(1, g_.n) + row, rows, columns);
    }

    void point_at_rows(const float* a, int64_t rows, const float** pointers, float* turned) const {
        for (int64_t r = 0; r < rows; ++r) pointers[r] = g_.a_k_step == 1 ? a + r * g_.a_row_step : turned + r * g_.k;
        if (g_.a_k_step == 1) return;
        for (int64_t k = 0; k < g_.k; ++k)
            for (int64_t r = 0; r < rows; ++r) turned[r * g_.k + k] = a[r * g_.a_row_step + k * g_.a_k_step];
    }

    const std::byte* packed_matrix(const Args& args, int64_t index, const ColumnBlock& columns) const {
        const int64_t bytes = panels_.size() * (format_ == WeightFormat::bf16 ? 2 : float_bytes);
        if (g_.constant_b) return args.packed[0] + index * bytes;
        if (takes_b_as_it_is_) return args.src[1] + index * g_.k * g_.n * float_bytes;
        if (!packs_in_tile_) return args.workspace + index * bytes;
        std::byte* packed = args.scratch + pointer_bytes_ + turned_bytes_;
        pack_columns(args, index, columns, reinterpret_cast<float*>(packed));
        return packed;
    }

    // A constant left operand is the last of the packed blobs, as it is.
    const float* left(const Args& args) const {
        const bool packs_addend = g_.addend == ProductGeometry::Addend::columns ||
                                  (g_.addend == ProductGeometry::Addend::tensor && g_.constant_addend);
        const size_t last = (g_.constant_b ? 1 : 0) + (packs_addend ? 1 : 0);
        return reinterpret_cast<const float*>(g_.constant_a ? args.packed[last] : args.src[0]);
    }

    // The addend's place among the packed blobs follows the matrix, if that is packed.
    const std::byte* packed_addend(const Args& args) const { return args.packed[g_.constant_b ? 1 : 0]; }

    const float* init(const Args& args) const {
        return g_.addend == ProductGeometry::Addend::columns ? reinterpret_cast<const float*>(packed_addend(args))
                                                             : zeros_.data();
    }

    void finish(const Args& args, float* dst, int64_t row, int64_t rows, const ColumnBlock& columns) const {
        if (g_.addend != ProductGeometry::Addend::tensor) {
            epilogue_.apply(args.operands, dst, row, rows, columns.column, columns.columns);
            return;
        }
        std::array<const std::byte*, 257> operands;  // `load` names an operand in a byte, and the addend comes first
        operands[0] = g_.constant_addend ? packed_addend(args) : args.src[2];
        std::copy_n(args.operands, operands_, operands.begin() + 1);
        epilogue_.apply(operands.data(), dst, row, rows, columns.column, columns.columns);
    }

    ProductGeometry g_;
    const GemmMicro& micro_;
    WeightFormat format_;
    Panels panels_;
    Epilogue epilogue_;
    size_t operands_;
    Blocking blocking_;
    std::vector<ColumnBlock> columns_;
    std::vector<float> zeros_;
    int64_t row_blocks_ = 0, pointer_bytes_ = 0, turned_bytes_ = 0, rounded_bytes_ = 0;
    bool packs_in_tile_ = false, takes_b_as_it_is_ = false;
};

std::vector<Tensor> pack(const GemmMicro& micro, Panels::Shape shape, const Problem& problem, const Choices& choices,
                         std::span<const Tensor* const> constants) {
    const ProductGeometry g = product_geometry(problem);
    const Panels panels(micro, g.k, g.n, shape);
    std::vector<Tensor> blobs;
    if (g.constant_b) {
        std::vector<int64_t> offsets;
        for (int64_t k = 0; k < g.k; ++k) offsets.push_back(k * g.b_k_step);
        blobs.push_back(packed_storage(panels, g.b_count, weight_format(micro, choices)));
        for (int64_t i = 0; i < g.b_count; ++i)
            pack_into(blobs[0], panels, i, constants[1]->data<float>().data() + i * g.k * g.n, offsets, g.b_n_step,
                      g.alpha);
    }
    if (g.addend == ProductGeometry::Addend::columns) {
        Tensor init(ElementType::f32, Shape{panels.init_size()});
        const Tensor& addend = *constants[2];
        for (int64_t n = 0; n < g.n; ++n) init.set(n, addend.at(addend.elements() == 1 ? 0 : n) * double{g.beta});
        blobs.push_back(std::move(init));
    } else if (g.addend == ProductGeometry::Addend::tensor && g.constant_addend) {
        blobs.push_back(*constants[2]);
    }
    if (g.constant_a) blobs.push_back(*constants[0]);
    return blobs;
}

Work work_of(const GemmMicro& micro, Panels::Shape shape, const Problem& problem, const Choices& choices) {
    const ProductGeometry g = product_geometry(problem);
    const Panels panels(micro, g.k, g.n, shape);
    const double rows = static_cast<double>(g.rows()), k = static_cast<double>(g.k),
                 n = static_cast<double>(panels.padded_n());
    const double weight_bytes = g.constant_b && weight_format(micro, choices) != WeightFormat::f32 ? 2 : 4;
    Work work{2 * rows * k * n, static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes()), 0};
    const double matrices = static_cast<double>(g.b_count) * k * n;
    // packing reads and writes it once more
    work.bytes += matrices * weight_bytes * (g.constant_b || is_packed_form(g, panels) ? 1 : 3);
    for (const TensorDesc& operand : problem.operands) work.bytes += static_cast<double>(operand.bytes());
    // Independent sums of a register tile against those that hide the latency of a multiply-add, measured.
    const int vectors = shape == Panels::Shape::few_rows ? GemmMicro::max_vectors : 2;
    const double sums = static_cast<double>(std::min<int64_t>(g.m, micro.rows[vectors]) * vectors);
    const double speed = micro.computes_in_bf16() ? bf16_speed : 1;
    work.efficiency = speed * 0.92 * std::min(1.0, sums / 8) * k / (k + 8);
    return work;
}

Kernel::Fields fields_of(const char* name, const char* algorithm, const char* help, Panels::Shape shape, Isa isa,
                         std::string_view isa_name, const GemmMicro& micro) {
    Kernel::Fields fields;
    fields.name = std::string(name) + "." + std::string(isa_name);
    fields.algorithm = algorithm;
    fields.help = help;
    fields.ops = {"MatMul", "Gemm"};
    fields.isa = isa;
    fields.knobs = blocking_knobs();
    const bool bf16 = micro.computes_in_bf16();
    if (bf16)
        fields.compute = ComputeFormat::bf16;
    else
        fields.knobs.push_back(&weight_format_knob);
    fields.supports = [bf16](const Problem& problem, const Target&, const Choices&) {
        ProductGeometry geometry;
        const Verdict verdict = read_product(problem, geometry);
        if (verdict && bf16 && !geometry.constant_b)
            return Verdict::no(Reason::needs_constant, "the right operand is computed at run time (bf16 packs it)");
        return verdict;
    };
    fields.work = [shape, &micro](const Problem& problem, const Target&, const Choices& choices) {
        return work_of(micro, shape, problem, choices);
    };
    fields.pack = [shape, &micro](const Problem& problem, const Target&, const Choices& choices,
                                  std::span<const Tensor* const> constants) {
        return pack(micro, shape, problem, choices, constants);
    };
    fields.prepare = [shape, isa, &micro](const Problem& problem, const Target& target, const Choices& choices) {
        return std::make_unique<MatmulPrepared>(micro, shape, isa, problem, target, choices);
    };
    return fields;
}

}  // namespace

Kernel::Fields gemm_matmul(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    return fields_of("matmul.gemm", "gemm", "Product in blocks of rows over packed panels of the right operand.",
                     Panels::Shape::tall, isa, isa_name, micro);
}
Kernel::Fields gemv_matmul(Isa isa, std::string_view isa_name, const GemmMicro& micro) {
    return fields_of("matmul.gemv", "gemv", "Product of few rows: wide panels, so that the weights stream by once.",
                     Panels::Shape::few_rows, isa, isa_name, micro);
}

namespace {

const Kernel gemm_baseline{gemm_matmul(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel gemm_avx2{gemm_matmul(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel gemm_avx512{gemm_matmul(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};
const Kernel gemv_baseline{gemv_matmul(Isa::baseline, "baseline", gemm_micro(Isa::baseline))};
const Kernel gemv_avx2{gemv_matmul(Isa::avx2, "avx2", gemm_micro(Isa::avx2))};
const Kernel gemv_avx512{gemv_matmul(Isa::avx512, "avx512", gemm_micro(Isa::avx512))};
const Kernel gemm_bf16{gemm_matmul(Isa::avx512, "avx512bf16", avx512bf16::bf16_gemm_micro)};
const Kernel gemv_bf16{gemv_matmul(Isa::avx512, "avx512bf16", avx512bf16::bf16_gemm_micro)};

}  // namespace
}  // namespace headway
