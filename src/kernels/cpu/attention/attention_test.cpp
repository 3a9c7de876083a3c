#include "kernels/cpu/attention/attention.h"

#include <gtest/gtest.h>

#include "kernels/cpu/attention/form.h"
#include "kernels/kernel_testing.h"

namespace headway {
namespace {

const Kernel rows_emulated512{
    rows_attention(Isa::avx2, "emulated512", emulated512::gemm_micro, emulated512::attention_ops)};
const Kernel flash_emulated512{
    flash_attention(Isa::avx2, "emulated512", emulated512::gemm_micro, emulated512::attention_ops)};

constexpr float infinity = std::numeric_limits<float>::infinity();
using Mask = AttentionForm::Mask;

struct Sizes {
    int64_t batch, heads, queries, keys, size, value_size;
};

// Heads side by side in the rows of a projection: batch x length x (heads * size).
HeadMatrices in_rows(int64_t heads, int64_t length, int64_t size, int64_t offset = 0, int64_t width = 0) {
    if (width == 0) width = std::max<int64_t>(heads * size, 1);
    return {offset, {length * width, size}, width, 1};
}

// batch x heads x length x size.
HeadMatrices by_head(int64_t heads, int64_t length, int64_t size) {
    return {0, {heads * length * size, length * size}, size, 1};
}

AttentionForm form_in_rows(const Sizes& s) {
    AttentionForm form;
    form.batch = {s.batch, s.heads};
    form.queries = s.queries;
    form.keys = s.keys;
    form.size = s.size;
    form.value_size = s.value_size;
    form.scale = 1 / std::sqrt(static_cast<float>(std::max<int64_t>(s.size, 1)));
    form.q = in_rows(s.heads, s.queries, s.size);
    form.k = in_rows(s.heads, s.keys, s.size);
    form.v = in_rows(s.heads, s.keys, s.value_size);
    form.y = in_rows(s.heads, s.queries, s.value_size);
    form.y_shape = {s.batch, s.queries, s.heads * s.value_size};
    return form;
}

struct Operands {
    std::vector<float> q, k, v, mask;
    std::vector<uint8_t> flags;
};

double score(const AttentionForm& form, const Operands& x, int64_t head, int64_t query, int64_t key) {
    double sum = 0;
    for (int64_t i = 0; i < form.size; ++i)
        sum += double{x.q[static_cast<size_t>(form.at(form.q, head) + query * form.q.row + i * form.q.column)]} *
               x.k[static_cast<size_t>(form.at(form.k, head) + key * form.k.row + i * form.k.column)];
    sum *= form.scale;
    if (form.mask_kind != Mask::none) {
        const auto at = static_cast<size_t>(form.at(form.mask, head) + query * form.mask.row + key * form.mask.column);
        if (form.mask_kind == Mask::add)
            sum += x.mask[at];
        else if ((x.flags[at] != 0) == (form.mask_kind == Mask::hide))
            sum = form.hidden;
    }
    return form.causal && key > query + *form.causal ? -infinity : sum;
}

std::vector<double> expected(const AttentionForm& form, const Operands& x) {
    std::vector<double> y(static_cast<size_t>(form.y_shape.elements()));
    for (int64_t head = 0; head < form.heads(); ++head)
        for (int64_t query = 0; query < form.queries; ++query) {
            std::vector<double> weights;
            double most = -infinity, total = 0;
            for (int64_t key = 0; key < form.keys; ++key) {
                weights.push_back(score(form, x, head, query, key));
                most = std::max(most, weights.back());
            }
            for (double& weight : weights) total += weight = std::exp(weight - most);
            for (int64_t column = 0; column < form.value_size; ++column) {
                double sum = 0;
                for (int64_t key = 0; key < form.keys; ++key)
                    sum += weights[static_cast<size_t>(key)] / total *
                           x.v[static_cast<size_t>(form.at(form.v, head) + key * form.v.row + column * form.v.column)];
                if (form.nan_to_zero && std::isnan(sum)) sum = 0;
                y[static_cast<size_t>(form.at(form.y, head) + query * form.y.row + column * form.y.column)] = sum;
            }
        }
    return y;
}

int64_t reach(const AttentionForm& form, const HeadMatrices& m, int64_t rows, int64_t columns) {
    if (form.heads() * rows * columns == 0) return 0;
    int64_t last = m.offset + (rows - 1) * m.row + (columns - 1) * m.column;
    for (size_t axis = 0; axis < form.batch.size(); ++axis) last += (form.batch[axis] - 1) * m.batch[axis];
    return last + 1;
}

Operands operands_for(const AttentionForm& form) {
    Operands x;
    x.q = testing::random_floats(reach(form, form.q, form.queries, form.size), 1);
    x.k = testing::random_floats(reach(form, form.k, form.keys, form.size), 2);
    x.v = testing::random_floats(reach(form, form.v, form.keys, form.value_size), 3);
    if (form.mask_kind == Mask::none) return x;
    x.mask = testing::random_floats(reach(form, form.mask, form.queries, form.keys), 4, -3, 3);
    for (float value : x.mask) x.flags.push_back(value > 0 ? 1 : 0);
    return x;
}

struct Setting {
    const char *direct_queries, *key_block, *query_block;
    int threads;
};

void check(const AttentionForm& form, const Operands& x) {
    const std::vector<double> want = expected(form, x);
    for (const Setting& setting :
         {Setting{"0", "32", "12", 2}, Setting{"0", "256", "0", 1}, Setting{"16", "32", "0", 1}}) {
        testing::KernelCase test;
        test.problem.op = "headway/StridedAttention";
        test.problem.version = 1;
        test.problem.attributes = attention_attributes(form);
        test.choices.set("attention.direct_queries", setting.direct_queries);
        test.choices.set("attention.key_block", setting.key_block);
        test.choices.set("attention.query_block", setting.query_block);
        const auto flat = [](size_t count) { return testing::f32({static_cast<int64_t>(count)}); };
        test.add_src(flat(x.q.size()), x.q);
        test.add_src(flat(x.k.size()), x.k);
        test.add_src(flat(x.v.size()), x.v);
        if (form.mask_kind == Mask::add) test.add_src(flat(x.mask.size()), x.mask, true);
        if (form.mask_kind == Mask::keep || form.mask_kind == Mask::hide)
            test.add_src({ElementType::boolean, {static_cast<int64_t>(x.flags.size())}, Layout::plain}, x.flags);
        test.problem.dst = {testing::f32(form.y_shape)};
        Target target = Target::native();
        target.threads = setting.threads;
        for (const Kernel* kernel : testing::kernels_for(test.problem.op))
            testing::expect_near(testing::run_kernel<float>(*kernel, test, 0, target), want, 1e-5, 1e-5,
                                 std::string(kernel->name()) + " direct " + setting.direct_queries + " blocks " +
                                     setting.query_block + "x" + setting.key_block + " " + test.problem.text());
    }
}

void check(const AttentionForm& form) { check(form, operands_for(form)); }

TEST(Attention, LengthsAndSizes) {
    for (int64_t length : {1, 3, 40})
        for (int64_t size : {1, 3, 16, 17, 24, 32, 64, 80, 128})
            check(form_in_rows({2, 3, length, length, size, size}));
    check(form_in_rows({1, 2, 128, 128, 32, 32}));
    check(form_in_rows({1, 1, 70, 513, 17, 40}));
    check(form_in_rows({1, 2, 1, 300, 64, 64}));
    check(form_in_rows({1, 2, 5, 77, 33, 15}));
}

TEST(Attention, NothingToDo) {
    for (const Sizes& sizes : {Sizes{0, 2, 3, 4, 5, 6}, Sizes{1, 2, 0, 4, 5, 6}, Sizes{1, 2, 3, 0, 5, 6},
                               Sizes{1, 2, 3, 4, 0, 6}, Sizes{1, 2, 3, 4, 5, 0}}) {
        const AttentionForm form = form_in_rows(sizes);
        if (form.keys > 0) {
            check(form);
            continue;
        }
        testing::KernelCase test;
        test.problem.op = "headway/StridedAttention";
        test.problem.attributes = attention_attributes(form);
        const Operands x = operands_for(form);
        for (const auto* values : {&x.q, &x.k, &x.v})
            test.add_src(testing::f32({static_cast<int64_t>(values->size())}), *values);
        test.problem.dst = {testing::f32(form.y_shape)};
        for (const Kernel* kernel : testing::kernels_for(test.problem.op))
            for (float y : testing::run_kernel<float>(*kernel, test)) EXPECT_EQ(y, 0) << kernel->name();
    }
}

TEST(Attention, OperandsLieAnywhere) {
    const Sizes s{2, 3, 20, 20, 24, 24};
    AttentionForm form = form_in_rows(s);
    const int64_t width = 3 * s.heads * s.size;  // queries, keys and values side by side
    form.q = in_rows(s.heads, s.queries, s.size, 0, width);
    form.k = in_rows(s.heads, s.keys, s.size, s.heads * s.size, width);
    form.v = in_rows(s.heads, s.keys, s.size, 2 * s.heads * s.size, width);
    check(form);
    form = form_in_rows(s);
    form.k = {0, {s.heads * s.keys * s.size, s.keys * s.size}, 1, s.keys};  // batch x heads x size x keys
    form.v = form.k;
    form.q = {0, {s.heads * s.queries * s.size, s.queries * s.size}, 1, s.queries};
    form.y = by_head(s.heads, s.queries, s.value_size);
    form.y_shape = {s.batch, s.heads, s.queries, s.value_size};
    check(form);
    form = form_in_rows(s);  // neither rows nor columns are dense
    form.k = {3, {s.heads * s.keys * s.size * 2, s.size * 2}, s.heads * s.size * 2, 2};
    form.v = form.k;
    form.q = form.k;
    check(form);
    form = form_in_rows({2, 4, 9, 11, 16, 16});  // two heads of queries share one of keys, images share all
    form.batch = {2, 2, 2};
    form.q.batch = {9 * 64, 32, 16};
    form.y.batch = form.q.batch;
    form.k.batch = form.v.batch = {0, 16, 0};
    form.k.row = form.v.row = 32;
    check(form);
}

TEST(Attention, Masks) {
    for (const Sizes& s : {Sizes{2, 3, 20, 75, 16, 16}, Sizes{2, 2, 2, 37, 24, 17}}) {
        for (const Mask kind : {Mask::add, Mask::keep, Mask::hide}) {
            AttentionForm form = form_in_rows(s);
            form.mask_kind = kind;
            form.hidden = -infinity;
            form.mask = {0, {s.keys, 0}, 0, 1};  // batch x 1 x 1 x keys
            check(form);
            form.hidden = -1e4F;
            form.mask = {0, {0, 0}, s.keys, 1};  // queries x keys
            check(form);
            form.mask = by_head(s.heads, s.queries, s.keys);
            check(form);
        }
    }
}

TEST(Attention, Causality) {
    for (int64_t causal : {0, 3, 55}) {
        AttentionForm form = form_in_rows({1, 2, 41, 60, 16, 24});
        form.causal = causal;
        check(form);
    }
}

// A row that sees nothing, in the first blocks of keys or in all.
TEST(Attention, RowsWithoutAKey) {
    AttentionForm form = form_in_rows({1, 1, 20, 100, 16, 16});
    form.mask_kind = Mask::add;
    form.mask = by_head(1, 20, 100);
    Operands x = operands_for(form);
    for (size_t key = 0; key < 100; ++key) {
        x.mask[3 * 100 + key] = -infinity;
        if (key < 70) x.mask[7 * 100 + key] = -infinity;
    }
    check(form, x);
    form.nan_to_zero = true;
    check(form, x);
    form = form_in_rows({1, 1, 20, 40, 16, 16});
    form.causal = -5;
    check(form);
}

TEST(Attention, NanAndInfinityOfAKeyReachTheRowsThatSeeIt) {
    for (const float value : {NAN, infinity}) {
        AttentionForm form = form_in_rows({1, 1, 20, 50, 16, 16});
        form.causal = 20;
        Operands x = operands_for(form);
        x.k[16 * 30] = value;
        for (float& q : x.q) q = std::fabs(q);  // +infinity for every query
        check(form, x);
    }
}

TEST(Attention, LargeScoresDoNotOverflow) {
    AttentionForm form = form_in_rows({1, 2, 30, 90, 16, 16});
    form.scale = 40;
    Operands x = operands_for(form);
    for (auto* values : {&x.q, &x.k})  // so that the scores are exact
        for (float& value : *values) value = std::round(4 * value) / 4;
    const std::vector<double> want = expected(form, x);
    for (double value : want) ASSERT_TRUE(std::isfinite(value));
    check(form, x);
}

AttentionForm read_back(Attributes attributes, int64_t elements, Verdict& verdict) {
    const std::vector<std::optional<TensorDesc>> src(3, testing::f32({elements}));
    AttentionForm form;
    verdict = read_attention(attributes, src, form);
    return form;
}

TEST(AttentionForm, RefusesWhatReachesOutside) {
    const AttentionForm form = form_in_rows({2, 3, 4, 4, 5, 5});
    Verdict verdict;
    EXPECT_EQ(read_back(attention_attributes(form), 120, verdict).k.row, 15);
    EXPECT_TRUE(verdict) << verdict.text();
    read_back(attention_attributes(form), 119, verdict);
    EXPECT_FALSE(verdict);
    using Change = std::function<void(AttentionForm&)>;
    const Change changes[] = {
        [](AttentionForm& f) { f.q.offset = -1; },
        [](AttentionForm& f) { f.k.row = int64_t{1} << 62; },
        [](AttentionForm& f) { f.v.batch[1] = 6; },
        [](AttentionForm& f) { f.k.row = 0; },
        [](AttentionForm& f) { f.v.column = 0; },
        [](AttentionForm& f) { f.k.row = f.k.column; },
        [](AttentionForm& f) { f.keys = int64_t{1} << 40; },
        [](AttentionForm& f) { f.batch[0] = 1 << 30; },
        [](AttentionForm& f) { f.batch = std::vector<int64_t>(9, 1); },
        [](AttentionForm& f) { f.y.row = 14; },
        [](AttentionForm& f) { f.y.offset = 1; },
        [](AttentionForm& f) {
            f.y_shape = {2, 4, 16};
        },
        [](AttentionForm& f) { f.mask_kind = Mask::add; },
        [](AttentionForm& f) { f.causal = int64_t{1} << 40; },
    };
    for (const Change& change : changes) {
        AttentionForm broken = form;
        change(broken);
        read_back(attention_attributes(broken), 120, verdict);
        EXPECT_FALSE(verdict) << "change " << &change - changes;
    }
}

}  // namespace
}  // namespace headway
