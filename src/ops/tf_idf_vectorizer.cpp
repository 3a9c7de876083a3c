#include <algorithm>
#include <map>
#include <unordered_map>

#include "ops/arguments.h"

namespace headway {
namespace {

using Gram = std::vector<int64_t>;

struct GramPool {
    std::map<Gram, int64_t> columns;  // of the output, for each n-gram that counts
    int64_t width = 0;                // of the output
    int64_t shortest = 1, longest = 1, skips = 0;
    std::vector<float> weights;  // by column
    bool counts = true;          // else only whether an n-gram occurs

    // `items`: those of the pool; `name`: of the attribute that holds them.
    static GramPool of(const Attributes& attributes, const std::vector<int64_t>& items, const char* name);

private:
    void read_grams(const Attributes& attributes, const std::vector<int64_t>& indexes,
                    const std::vector<int64_t>& items, const std::string& name);
    void read_weights(const Attributes& attributes, const std::vector<int64_t>& indexes);
};

GramPool GramPool::of(const Attributes& attributes, const std::vector<int64_t>& items, const char* name) {
    GramPool pool;
    pool.shortest = attributes.integer("min_gram_length", 0);
    pool.longest = attributes.integer("max_gram_length", 0);
    pool.skips = attributes.integer("max_skip_count", -1);
    if (pool.shortest < 1 || pool.longest < pool.shortest || pool.skips < 0)
        throw UserError("min_gram_length, max_gram_length or max_skip_count is missing or out of range");
    const std::vector<int64_t> indexes = attributes.integers("ngram_indexes");
    constexpr int64_t limit = int64_t{1} << 30;
    if (indexes.empty() || std::ranges::any_of(indexes, [](int64_t i) { return i < 0 || i >= limit; }))
        throw UserError("ngram_indexes is empty or out of range");
    pool.width = *std::ranges::max_element(indexes) + 1;
    pool.read_grams(attributes, indexes, items, name);
    pool.read_weights(attributes, indexes);
    return pool;
}

// The pool holds all 1-grams, then all 2-grams and so on; ngram_counts says where each length begins.
void GramPool::read_grams(const Attributes& attributes, const std::vector<int64_t>& indexes,
                          const std::vector<int64_t>& items, const std::string& name) {
    std::vector<int64_t> begins = attributes.integers("ngram_counts");
    begins.push_back(static_cast<int64_t>(items.size()));
    size_t number = 0;
    int64_t at = 0;
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
        const auto length = static_cast<int64_t>(i) + 1;
        if (begins[i] != at || begins[i + 1] < at || (begins[i + 1] - at) % length != 0 ||
            begins[i + 1] > static_cast<int64_t>(items.size()))
            throw UserError("ngram_counts does not fit " + name);
        for (; at < begins[i + 1]; at += length, ++number) {
            if (number == indexes.size()) throw UserError(name + " holds more n-grams than ngram_indexes");
            if (length < shortest || length > longest) continue;
            const Gram gram(items.begin() + at, items.begin() + at + length);
            if (!columns.emplace(gram, indexes[number]).second) throw UserError(name + " holds an n-gram twice");
        }
    }
    if (number != indexes.size()) throw UserError(name + " holds fewer n-grams than ngram_indexes");
}

void GramPool::read_weights(const Attributes& attributes, const std::vector<int64_t>& indexes) {
    const std::string mode = attributes.text("mode", "");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF") throw UserError("attribute mode has an unknown value");
    counts = mode != "IDF";
    if (mode == "TF" || !attributes.has("weights")) return;
    weights = attributes.reals("weights");
    if (weights.size() != indexes.size()) throw UserError("weights does not have one entry per n-gram");
    // ONNX's text gives weights to n-grams, its reference to columns; they agree where both have one order.
    for (size_t i = 0; i < indexes.size(); ++i)
        if (indexes[i] != static_cast<int64_t>(i))
            throw Unsupported("weights with n-grams in another order than their columns");
}

// Counts the n-grams of one row: items that lie `step` apart, for each step; 1-grams have none and count once.
void count_grams(const GramPool& pool, const int64_t* row, int64_t length, float* counts) {
    for (int64_t step = 1; step <= std::min(pool.skips, length) + 1; ++step)
        for (int64_t begin = 0; begin < length; ++begin) {
            Gram gram;
            for (int64_t at = begin; at < length && static_cast<int64_t>(gram.size()) < pool.longest; at += step) {
                gram.push_back(row[at]);
                const auto size = static_cast<int64_t>(gram.size());
                if (size < pool.shortest || (size == 1 && step > 1)) continue;
                if (const auto found = pool.columns.find(gram); found != pool.columns.end()) ++counts[found->second];
            }
        }
}

GramPool integer_pool(const Attributes& attributes) {
    if (attributes.has("pool_strings")) throw UserError("its pool holds strings, its input does not");
    return GramPool::of(attributes, attributes.integers("pool_int64s"), "pool_int64s");
}

Shape tf_idf_shape(const GramPool& pool, const Shape& shape) {
    if (shape.rank() != 1 && shape.rank() != 2) throw UserError("an input of " + shape.text() + " is no list of rows");
    return shape.rank() == 1 ? Shape{pool.width} : Shape{shape[0], pool.width};
}

void count_rows(const GramPool& pool, const Shape& shape, const std::vector<int64_t>& items, Tensor& output) {
    const int64_t rows = shape.rank() == 1 ? 1 : shape[0];
    float* y = output.mutable_data<float>().data();
    for (int64_t row = 0; row < rows; ++row, y += pool.width) {
        count_grams(pool, items.data() + row * shape.back(), shape.back(), y);
        for (int64_t i = 0; i < pool.width; ++i) {
            if (!pool.counts) y[i] = std::min(y[i], 1.0F);
            if (!pool.weights.empty()) y[i] *= pool.weights[static_cast<size_t>(i)];
        }
    }
}

void infer_tf_idf_vectorizer(InferContext& context) {
    const GramPool pool = integer_pool(context.attributes());
    context.set_output(0, ElementType::f32, tf_idf_shape(pool, context.shape(0)));
}

void tf_idf_vectorizer_reference(const ReferenceContext& context) {
    const Tensor& x = context.in(0);
    count_rows(integer_pool(context.attributes), x.shape(), x.to_int64(), context.out(0));
}

// Each distinct string of the pool has a number; those that it lacks share one that no n-gram holds.
std::vector<Datum> interpret_tf_idf_vectorizer(const InterpretContext& context) {
    const Strings& x = context.strings(0);
    if (!context.attributes().has("pool_strings")) throw UserError("its input holds strings, its pool does not");
    std::unordered_map<std::string, int64_t> numbers;
    std::vector<int64_t> pool_items;
    for (const std::string& text : context.attributes().texts("pool_strings"))
        pool_items.push_back(numbers.emplace(text, static_cast<int64_t>(numbers.size())).first->second);
    std::vector<int64_t> items;
    for (const std::string& text : x.values) {
        const auto found = numbers.find(text);
        items.push_back(found == numbers.end() ? -1 : found->second);
    }
    const GramPool pool = GramPool::of(context.attributes(), pool_items, "pool_strings");
    Tensor output(ElementType::f32, tf_idf_shape(pool, x.shape));
    count_rows(pool, x.shape, items, output);
    return {std::move(output)};
}

}  // namespace

const Op tf_idf_vectorizer_op{{
    .name = "TfIdfVectorizer",
    .since = {9},
    .types = index_types | string_type,
    .attributes = {{"max_gram_length", "int", "", "length of the longest n-grams that count"},
                   {"max_skip_count", "int", "", "most items skipped between two items of an n-gram"},
                   {"min_gram_length", "int", "", "length of the shortest n-grams that count"},
                   {"mode", "string", "", "TF: counts; IDF: weights of those that occur; TFIDF: counts times weights"},
                   {"ngram_counts", "ints", "", "where the n-grams of each length begin in the pool"},
                   {"ngram_indexes", "ints", "", "column of the output for each n-gram"},
                   {"pool_int64s", "ints", "", "the n-grams, the shortest first"},
                   {"pool_strings", "strings", "", "the n-grams of strings"},
                   {"weights", "floats", "1", "weight of each n-gram"}},
    .infer = infer_tf_idf_vectorizer,
    .reference = tf_idf_vectorizer_reference,
    .interpret = interpret_tf_idf_vectorizer,
    .help = "How often each n-gram of a pool occurs in each row. Rows of strings are only interpreted.",
}};

}  // namespace headway
