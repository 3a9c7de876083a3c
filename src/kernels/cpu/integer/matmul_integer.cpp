// MatMulInteger in exact register tiles.
#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "kernels/cpu/integer/operands.h"
#include "kernels/cpu/integer/product.h"

namespace headway {
namespace {

const Knob<int64_t> panel_kb{{
    .name = "integer.panel_kb",
    .help = "Weights of a product of 8-bit integers that are one unit of scheduling, in KiB: as much as stays in the "
            "second-level cache. Less gives products of one row (decoders) to several threads.",
    .family = "kernel",
    .values = {256, 32, 64, 128, 512, 1024},
    .scope = Scope::site,
    .witness = "matmul_integer",
}};

struct Geometry {
    int64_t rows = 0, inner = 0, columns = 0;
    struct Item {
        int64_t a, b, c;  // which matrix of each
    };
    std::vector<Item> items;
    int64_t b_count = 0;
};

Verdict read(const Problem& problem, Geometry& g) {
    if (problem.src.size() < 2 || !problem.src[0] || !problem.src[1] || problem.dst.size() != 1)
        return Verdict::no(Reason::shape, "inputs or outputs");
    const Shape& a = problem.src[0]->shape;
    const Shape& b = problem.src[1]->shape;
    const Shape& c = problem.dst[0].shape;
    if (a.rank() < 2 || b.rank() < 2) return Verdict::no(Reason::shape, "a vector operand");
    g = {};
    g.rows = a[a.rank() - 2], g.inner = a.back(), g.columns = b.back();
    if (b[b.rank() - 2] != g.inner || c.rank() != std::max(a.rank(), b.rank()))
        return Verdict::no(Reason::shape, "shapes do not fit");
    g.b_count = b.elements(0, b.rank() - 2);
    const int64_t count = c.elements(0, c.rank() - 2);
    if (g.b_count == 1) {  // one tall product
        g.rows *= a.elements(0, a.rank() - 2);
        g.items.push_back({0, 0, 0});
        return check_integer_operands(problem, g.columns);
    }
    for (int64_t item = 0; item < count; ++item) {
        int64_t a_at = 0, b_at = 0, a_step = 1, b_step = 1, left = item;
        for (size_t back = 3; back <= c.rank(); ++back) {
            const int64_t extent = c[c.rank() - back], index = left % extent;
            left /= extent;
            const auto add = [&](const Shape& shape, int64_t& at, int64_t& step) {
                if (back > shape.rank()) return;
                if (shape[shape.rank() - back] != 1) at += index * step;
                step *= shape[shape.rank() - back];
            };
            add(a, a_at, a_step);
            add(b, b_at, b_step);
        }
        g.items.push_back({a_at, b_at, item});
    }
    return check_integer_operands(problem, g.columns);
}

class MatmulInteger final : public Prepared {
public:
    MatmulInteger(const IntegerMicro& micro, const Problem& problem, const Choices& choices)
        : micro_(micro), operands_(problem), tile_rows_(choices.get(integer_rows_knob)) {
        HEADWAY_CHECK(read(problem, g_));
        panels_ = {g_.inner, g_.columns};
        a_type_ = problem.src[0]->type;
        b_type_ = problem.src[1]->type;
        b_zero_per_column_ = operands_.has(3) && problem.src[3]->shape.elements() != 1;
        row_blocks_ = ceil_div(g_.rows, tile_rows_);
        group_ = std::max<int64_t>(1, choices.get(panel_kb) * 1024 / std::max<int64_t>(1, panels_.panel_bytes()));
        groups_ = ceil_div(panels_.panels(), group_);
    }

    int phases() const override { return operands_.is_constant(1) ? 1 : 2; }
    int64_t tiles(int phase) const override {
        if (phase + 1 < phases()) return g_.b_count;
        return static_cast<int64_t>(g_.items.size()) * row_blocks_ * groups_;
    }
    int64_t workspace_bytes() const override {
        return phases() == 1 ? 0 : checked_mul(g_.b_count, matrix_bytes(), "packed operand");
    }
    int64_t scratch_bytes() const override { return room().bytes(); }

    void run(const Args& args, int phase, int64_t begin, int64_t end) const override {
        for (int64_t tile = begin; tile < end; ++tile) {
            if (phase + 1 < phases())
                pack_matrix(args, tile);
            else
                multiply(args, tile);
        }
    }

    static std::vector<Tensor> pack(const Problem& problem, std::span<const Tensor* const> constants) {
        Geometry g;
        HEADWAY_CHECK(read(problem, g));
        const IntegerPanels shape{g.inner, g.columns};
        std::vector<Tensor> b;
        if (IntegerOperands(problem).is_constant(1)) {
            b.emplace_back(ElementType::i8, Shape{g.b_count, shape.bytes()});
            b.emplace_back(ElementType::i32, Shape{g.b_count, g.columns});
            for (int64_t i = 0; i < g.b_count; ++i)
                shape.pack(constants[1]->bytes().data() + i * g.inner * g.columns, g.columns, 1,
                           flip_of(problem.src[1]->type, moved_b),
                           b[0].mutable_data<int8_t>().data() + i * shape.bytes(),
                           b[1].mutable_data<int32_t>().data() + i * g.columns);
        }
        return pack_integers(problem, constants, std::move(b));
    }

private:
    IntegerRowRoom room() const { return {panels_, tile_rows_}; }
    int64_t sums_at() const { return round_up(panels_.bytes(), 64); }
    int64_t matrix_bytes() const {
        return sums_at() + round_up(g_.columns * static_cast<int64_t>(sizeof(int32_t)), 64);
    }

    void pack_matrix(const Args& args, int64_t matrix) const {
        std::byte* to = args.workspace + matrix * matrix_bytes();
        panels_.pack(args.src[1] + matrix * g_.inner * g_.columns, g_.columns, 1, flip_of(b_type_, moved_b),
                     reinterpret_cast<int8_t*>(to), reinterpret_cast<int32_t*>(to + sums_at()));
    }

    // Tiles in the order (product, panels, rows): the panels stay in cache while the rows pass by.
    void multiply(const Args& args, int64_t tile) const {
        const int64_t row = tile % row_blocks_ * tile_rows_, rest = tile / row_blocks_;
        const int64_t first = rest % groups_ * group_, last = std::min(panels_.panels(), first + group_);
        const Geometry::Item& item = g_.items[static_cast<size_t>(rest / groups_)];
        const int8_t* b;
        const int32_t* sums;
        if (phases() == 1) {
            b = reinterpret_cast<const int8_t*>(operands_.at(args, 1)) + item.b * panels_.bytes();
            sums = operands_.sums(args) + item.b * g_.columns;
        } else {
            const std::byte* matrix = args.workspace + item.b * matrix_bytes();
            b = reinterpret_cast<const int8_t*>(matrix);
            sums = reinterpret_cast<const int32_t*>(matrix + sums_at());
        }
        const IntegerRows rows = read_rows(args, item.a * g_.rows + row, std::min(tile_rows_, g_.rows - row));
        const IntegerZeros zeros{zero_point(operands_.at(args, 2), a_type_) + flip_of(a_type_, moved_a),
                                 operands_.at(args, 3), b_type_, b_zero_per_column_};
        int32_t* c = reinterpret_cast<int32_t*>(args.dst[0]) + (item.c * g_.rows + row) * g_.columns;
        for (int64_t panel = first; panel < last; ++panel) {
            const IntegerColumns columns = columns_of_panel(panels_, panel, sums, zeros);
            multiply_panel(micro_, panels_, rows, panel, b, columns, [&](int64_t r, const IntegerRow& values) {
                micro_.finish_i32(values, c + r * g_.columns + columns.first);
            });
        }
    }

    IntegerRows read_rows(const Args& args, int64_t first, int64_t count) const {
        const auto* from = reinterpret_cast<const uint8_t*>(args.src[0]) + first * g_.inner;
        const uint8_t flip = flip_of(a_type_, moved_a);
        return room().rows(args.scratch, count, [&](int64_t r, uint8_t* to) {
            return micro_.move_row(from + r * g_.inner, g_.inner, flip, to);
        });
    }

    const IntegerMicro& micro_;
    IntegerOperands operands_;
    int64_t tile_rows_;
    Geometry g_;
    IntegerPanels panels_;
    ElementType a_type_ = ElementType::u8, b_type_ = ElementType::i8;
    bool b_zero_per_column_ = false;
    int64_t row_blocks_ = 0, group_ = 1, groups_ = 0;
};

Kernel::Fields fields_of(const IntegerIsa& isa) {
    Kernel::Fields fields;
    fields.name = "matmul.integer." + std::string(isa.name);
    fields.algorithm = "integer";
    fields.help = "Exact products of 8-bit integers in register tiles, sums in i32.";
    fields.ops = {"MatMulInteger"};
    fields.isa = isa.isa;
    fields.numerics = Numerics::exact;
    fields.knobs = {&integer_rows_knob, &panel_kb};
    fields.supports = [&isa](const Problem& problem, const Target& target, const Choices&) {
        if (Verdict verdict = runs_on(isa, target); !verdict) return verdict;
        Geometry g;
        return read(problem, g);
    };
    fields.work = [&isa](const Problem& problem, const Target&, const Choices&) {
        Geometry g;
        HEADWAY_CHECK(read(problem, g));
        const IntegerPanels panels{g.inner, g.columns};
        const double rows = static_cast<double>(g.rows) * static_cast<double>(g.items.size());
        const double bytes = static_cast<double>(problem.src[0]->bytes() + problem.dst[0].bytes()) +
                             static_cast<double>(g.b_count * panels.bytes());
        return integer_work(isa, panels, rows, bytes);
    };
    fields.pack = [](const Problem& problem, const Target&, const Choices&, std::span<const Tensor* const> constants) {
        return MatmulInteger::pack(problem, constants);
    };
    fields.prepare = [&isa](const Problem& problem, const Target&, const Choices& choices) {
        return std::make_unique<MatmulInteger>(isa.micro, problem, choices);
    };
    return fields;
}

const Kernel matmul_integer_vnni{fields_of(integer_isas()[0])};
const Kernel matmul_integer_avx2{fields_of(integer_isas()[1])};
const Kernel matmul_integer_baseline{fields_of(integer_isas()[2])};

}  // namespace
}  // namespace headway
