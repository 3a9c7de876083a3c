// Products with constant right operands by oneDNN, single-threaded inside our tiles: blocks of rows, or of columns
// where there are few rows, are separate primitives.
#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "kernels/cpu/gemm/epilogue.h"
#include "kernels/cpu/gemm/product.h"
#include "kernels/cpu/providers/onednn/library.h"

namespace headway {
namespace {

struct Slice {
    OnednnMatmul product;
    int64_t row = 0, column = 0;
};

bool has_bias(const ProductGeometry& g) { return g.addend == ProductGeometry::Addend::columns; }

OnednnMatmul whole_product(const ProductGeometry& g, bool avx512) {
    return {g.rows(), g.k, g.n, g.n, g.n, has_bias(g) ? 1 : 0, avx512 ? 1 : 0, 0};
}

// Below these a slice's start and end cost more than a second thread brings.
constexpr int64_t fewest_rows = 8, fewest_columns = 64;

std::vector<Slice> slices_of(const OnednnMatmul& whole, int64_t threads) {
    const bool by_rows = whole.m >= threads * fewest_rows;
    const int64_t unit = by_rows ? 1 : fewest_columns;
    const int64_t units = by_rows ? whole.m : ceil_div(whole.n, unit);
    const int64_t parts = std::min(threads, units);
    std::vector<Slice> slices;
    for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = part * units / parts * unit, last = (part + 1) * units / parts * unit;
        Slice slice{whole};
        if (by_rows) {
            slice.row = first;
            slice.product.m = last - first;
        } else {
            slice.column = first;
            slice.product.n = std::min(last, whole.n) - first;
        }
        slices.push_back(slice);
    }
    const bool good = std::ranges::all_of(slices, [](const Slice& s) { return onednn()->find_matmul(&s.product); });
    return good || parts <= 1 ? slices : slices_of(whole, 1);
}

class OnednnMatmulPrepared final : public Prepared {
public:
    OnednnMatmulPrepared(const Problem& problem, const Target& target, Isa isa)
        : g_(product_geometry(problem)),
          epilogue_(problem, Epilogue::View::last_dim, isa),
          slices_(slices_of(whole_product(g_, isa == Isa::avx512), target.threads)) {
        for (const Slice& slice : slices_) {
            primitives_.emplace_back(onednn()->make_matmul(&slice.product));
            if (primitives_.back() == nullptr) throw UserError("oneDNN could not make a product it had offered");
            scratch_ = std::max(scratch_, static_cast<int64_t>(onednn()->scratch_bytes(primitives_.back().get())));
        }
    }

    void load(const std::byte* const* packed) override {
        for (size_t i = 0; i < slices_.size(); ++i)
            weights_.push_back(
                weight_set_.load(primitives_[i].get(), reinterpret_cast<const float*>(packed[0]) + slices_[i].column));
    }
    int64_t tiles(int) const override { return static_cast<int64_t>(slices_.size()); }
    int64_t scratch_bytes() const override { return scratch_; }

    void run(const Args& args, int, int64_t begin, int64_t end) const override {
        const auto* src = reinterpret_cast<const float*>(args.src[0]);
        const auto* bias = has_bias(g_) ? reinterpret_cast<const float*>(args.packed[1]) : nullptr;
        auto* dst = reinterpret_cast<float*>(args.dst[0]);
        for (int64_t tile = begin; tile < end; ++tile) {
            const auto part = static_cast<size_t>(tile);
            const Slice& slice = slices_[part];
            HEADWAY_CHECK(onednn()->run(primitives_[part].get(), src + slice.row * g_.k, weights_[part],
                                        bias == nullptr ? nullptr : bias + slice.column,
                                        dst + slice.row * g_.n + slice.column, args.scratch) != 0);
            epilogue_.apply(args.operands, dst, slice.row, slice.product.m, slice.column, slice.product.n);
        }
    }

private:
    ProductGeometry g_;
    Epilogue epilogue_;
    std::vector<Slice> slices_;
    std::vector<OnednnPrimitivePointer> primitives_;
    OnednnWeightSet weight_set_;
    std::vector<const OnednnWeights*> weights_;
    int64_t scratch_ = 0;
};

// Whether the batch is one product of all rows by one matrix.
bool is_one_product(const ProductGeometry& g) {
    if (g.b_count != 1 || g.a_k_step != 1 || (g.a_row_step != g.k && g.m > 1)) return false;
    for (size_t i = 0; i < g.items.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (g.items[i].a != at * g.m * g.k || g.items[i].c != at * g.m * g.n) return false;
    }
    return true;
}

Verdict supports(const Problem& problem, const Target& target, Isa isa) {
    if (Verdict verdict = onednn_serves(target); !verdict) return verdict;
    ProductGeometry g;
    if (Verdict verdict = read_product(problem, g); !verdict) return verdict;
    if (g.constant_a) return Verdict::no(Reason::shape, "the left operand is a constant");
    if (!g.constant_b) return Verdict::no(Reason::needs_constant, "the right operand is computed at run time");
    if (g.addend == ProductGeometry::Addend::tensor)
        return Verdict::no(Reason::shape, "the addend is not one value for each column");
    if (g.rows() == 0 || g.n == 0 || g.k == 0) return Verdict::no(Reason::shape, "nothing to compute");
    if (!is_one_product(g)) return Verdict::no(Reason::shape, "operands are not two dense matrices");
    const OnednnMatmul whole = whole_product(g, isa == Isa::avx512);
    if (onednn()->find_matmul(&whole) == nullptr)
        return Verdict::no(Reason::provider, "oneDNN offers no implementation besides reference code");
    return Verdict::yes();
}

// The matrix as (k, n) with Gemm's alpha in it, and the addend of the columns with its beta.
std::vector<Tensor> pack(const Problem& problem, std::span<const Tensor* const> constants) {
    const ProductGeometry g = product_geometry(problem);
    Tensor matrix(ElementType::f32, Shape{g.k, g.n});
    const auto from = constants[1]->data<float>();
    const auto to = matrix.mutable_data<float>();
    for (int64_t k = 0; k < g.k; ++k)
        for (int64_t n = 0; n < g.n; ++n)
            to[static_cast<size_t>(k * g.n + n)] = g.alpha * from[static_cast<size_t>(k * g.b_k_step + n * g.b_n_step)];
    std::vector<Tensor> packed{std::move(matrix)};
    if (!has_bias(g)) return packed;
    Tensor bias(ElementType::f32, Shape{g.n});
    for (int64_t n = 0; n < g.n; ++n)
        bias.set(n, constants[2]->at(constants[2]->elements() == 1 ? 0 : n) * double{g.beta});
    packed.push_back(std::move(bias));
    return packed;
}

Work work_of(const Problem& problem) {
    const ProductGeometry g = product_geometry(problem);
    const double rows = static_cast<double>(g.rows()), k = static_cast<double>(g.k), n = static_cast<double>(g.n);
    // With few rows its weights, which are not packed, come at half the bandwidth that packed panels have: 12 against
    // 23 GB/s from memory on Zen 4, from 1 to 8 rows; nothing is left of it at 32.
    constexpr double few_rows = 16;
    const double weight_bytes = (rows < few_rows ? 8 : 4) * k * n;
    Work work{2 * rows * k * n, static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes()) + weight_bytes,
              0.8};
    for (const TensorDesc& operand : problem.operands) work.bytes += static_cast<double>(operand.bytes());
    return work;
}

Kernel::Fields onednn_matmul(Isa isa, std::string_view isa_name) {
    Kernel::Fields fields;
    fields.name = "matmul.onednn." + std::string(isa_name);
    fields.algorithm = "onednn";
    fields.help = "Product with a constant right operand by oneDNN, one thread to a primitive.";
    fields.ops = {"MatMul", "Gemm"};
    fields.isa = isa;
    fields.supports = [isa](const Problem& problem, const Target& target, const Choices&) {
        return supports(problem, target, isa);
    };
    fields.work = [](const Problem& problem, const Target&, const Choices&) { return work_of(problem); };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        return pack(problem, constants);
    };
    fields.prepare = [isa](const Problem& problem, const Target& target, const Choices&) {
        return std::make_unique<OnednnMatmulPrepared>(problem, target, isa);
    };
    return fields;
}

const Kernel onednn_matmul_avx2{onednn_matmul(Isa::avx2, "avx2")};
const Kernel onednn_matmul_avx512{onednn_matmul(Isa::avx512, "avx512")};

}  // namespace
}  // namespace headway
