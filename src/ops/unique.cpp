#include <algorithm>
#include <numeric>

#include "ops/arguments.h"
#include "ops/element.h"
#include "ops/rows.h"

namespace headway {
namespace {

// The input as lines of the axis, each position on it one slice; without an axis every element is a slice.
Lines unique_lines(const Attributes& attributes, const Shape& shape) {
    if (!attributes.has("axis")) return {1, shape.elements(), 1};
    return Lines::along(shape, static_cast<size_t>(axis_of(attributes, 0, shape.rank())));
}

struct UniqueSlices {
    std::vector<int64_t> first;   // where each distinct slice stands first, in the order of the output
    std::vector<int64_t> number;  // for each slice of the input, which of them it is
};

// compare(a, b) of the slices at two positions: negative, zero or positive.
template <class E>
int compare_slices(const typename E::Storage* x, const Lines& lines, int64_t a, int64_t b) {
    for (int64_t outer = 0; outer < lines.outer; ++outer)
        for (int64_t inner = 0; inner < lines.inner; ++inner) {
            const auto left = E::load(x[(outer * lines.length + a) * lines.inner + inner]);
            const auto right = E::load(x[(outer * lines.length + b) * lines.inner + inner]);
            if (left != right) return left < right ? -1 : 1;
        }
    return 0;
}

template <class E>
UniqueSlices unique_slices_of(const Tensor& tensor, const Lines& lines, bool sorted) {
    const auto* x = stored<typename E::Storage>(tensor);
    for (int64_t i = 0; i < tensor.elements(); ++i)
        if (is_nan(E::load(x[i]))) throw UserError("its input holds NaN, of which no two are equal");
    std::vector<int64_t> order(static_cast<size_t>(lines.length));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return compare_slices<E>(x, lines, a, b) < 0; });
    UniqueSlices slices;
    slices.number.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || compare_slices<E>(x, lines, order[i - 1], order[i]) != 0) slices.first.push_back(order[i]);
        slices.number[static_cast<size_t>(order[i])] = static_cast<int64_t>(slices.first.size()) - 1;
    }
    if (sorted) return slices;
    // In the order of the input: the new number of each slice is the rank of where it stands first.
    const std::vector<int64_t> by_value = slices.first;
    std::ranges::sort(slices.first);
    for (int64_t& number : slices.number)
        number = std::ranges::lower_bound(slices.first, by_value[static_cast<size_t>(number)]) - slices.first.begin();
    return slices;
}

UniqueSlices unique_slices(const Attributes& attributes, const Tensor& x) {
    const Lines lines = unique_lines(attributes, x.shape());
    const bool sorted = attributes.integer("sorted", 1) != 0;
    return visit_element(x.type(), [&]<class E>(E) { return unique_slices_of<E>(x, lines, sorted); });
}

void infer_unique(InferContext& context) {
    const Tensor& x = context.required(0, "its input (how many slices differ depends on it)");
    const UniqueSlices slices = unique_slices(context.attributes(), x);
    const auto count = static_cast<int64_t>(slices.first.size());
    Shape shape{count};
    if (context.attributes().has("axis")) {
        shape = x.shape();
        shape[static_cast<size_t>(axis_of(context.attributes(), 0, shape.rank()))] = count;
    }
    context.set_output(0, context.type(0), std::move(shape));
    context.set_output(1, ElementType::i64, Shape{count});
    context.set_output(2, ElementType::i64, Shape{static_cast<int64_t>(slices.number.size())});
    context.set_output(3, ElementType::i64, Shape{count});
}

void unique_reference(const ReferenceContext& context) {
    const Tensor& x = context.in(0);
    const UniqueSlices slices = unique_slices(context.attributes, x);
    if (context.wants(0)) {
        const Lines lines = unique_lines(context.attributes, x.shape());
        const int64_t chunk = lines.inner * static_cast<int64_t>(size_of(x.type()));
        std::byte* to = context.out(0).mutable_bytes().data();
        for (int64_t outer = 0; outer < lines.outer; ++outer)
            for (int64_t position : slices.first)
                to = std::copy_n(x.bytes().data() + (outer * lines.length + position) * chunk, chunk, to);
    }
    if (context.wants(1)) std::ranges::copy(slices.first, context.out(1).mutable_data<int64_t>().begin());
    if (context.wants(2)) std::ranges::copy(slices.number, context.out(2).mutable_data<int64_t>().begin());
    if (context.wants(3))
        for (int64_t number : slices.number) ++context.out(3).mutable_data<int64_t>()[static_cast<size_t>(number)];
}

}  // namespace

const Op unique_op{{
    .name = "Unique",
    .since = {11},
    .outputs = {1, 4},
    .types = fixed_size_types | string_type,
    .attributes = {{"axis", "int", "flattened", "the axis whose slices are compared"},
                   {"sorted", "int", "1", "0: in the order of the input"}},
    .infer = infer_unique,
    .reference = unique_reference,
    .help =
        "The distinct elements or slices, where each stands first, which of them each slice of the input is, and how "
        "often each occurs. The input must be known when an engine is built.",
}};

}  // namespace headway
