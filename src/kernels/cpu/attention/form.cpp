#include "kernels/cpu/attention/form.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace headway {
namespace {

constexpr std::array<std::string_view, 4> mask_words{"none", "add", "keep", "hide"};
constexpr size_t most_batch_axes = 8;
constexpr int64_t most_shift = std::numeric_limits<int32_t>::max();

std::vector<int64_t> numbers_of(const HeadMatrices& matrices) {
    std::vector<int64_t> numbers{matrices.offset};
    numbers.insert(numbers.end(), matrices.batch.begin(), matrices.batch.end());
    numbers.push_back(matrices.row);
    numbers.push_back(matrices.column);
    return numbers;
}

Verdict wrong(std::string detail) { return Verdict::no(Reason::attribute, std::move(detail)); }

Verdict read_matrices(const Attributes& attributes, const char* name, size_t axes, HeadMatrices& matrices) {
    const std::vector<int64_t> numbers = attributes.integers(name);
    if (numbers.size() != axes + 3) return wrong(std::string(name) + " needs " + std::to_string(axes + 3) + " numbers");
    if (std::ranges::any_of(numbers, [](int64_t number) { return number < 0; }))
        return wrong(std::string(name) + " holds a negative number");
    matrices.offset = numbers[0];
    matrices.batch.assign(numbers.begin() + 1, numbers.end() - 2);
    matrices.row = numbers[axes + 1];
    matrices.column = numbers[axes + 2];
    return Verdict::yes();
}

struct Extent {
    int64_t count, step;
};

std::vector<Extent> extents_of(const AttentionForm& form, const HeadMatrices& matrices, int64_t rows, int64_t columns) {
    std::vector<Extent> extents;
    for (size_t axis = 0; axis < form.batch.size(); ++axis) extents.push_back({form.batch[axis], matrices.batch[axis]});
    extents.push_back({rows, matrices.row});
    extents.push_back({columns, matrices.column});
    return extents;
}

Verdict check_inside(const char* name, int64_t offset, const std::vector<Extent>& extents, int64_t elements) {
    int64_t last = offset;
    for (const Extent& extent : extents) {
        int64_t reach = 0;
        if (extent.count == 0) return Verdict::yes();
        if (__builtin_mul_overflow(extent.count - 1, extent.step, &reach) || __builtin_add_overflow(last, reach, &last))
            return wrong(std::string(name) + " reaches too far");
    }
    if (last >= elements) return wrong(std::string(name) + " reaches beyond its tensor");
    return Verdict::yes();
}

// Rows or columns that share elements would let a small tensor ask for any amount of work and memory.
Verdict check_distinct(const char* name, const HeadMatrices& matrices, int64_t rows, int64_t columns) {
    const bool even = (rows <= 1 || matrices.row > 0) && (columns <= 1 || matrices.column > 0);
    const bool apart = rows <= 1 || columns <= 1 || matrices.row / columns >= matrices.column ||
                       matrices.column / rows >= matrices.row;
    return even && apart ? Verdict::yes() : wrong(std::string(name) + " repeats rows or columns");
}

Verdict check_dense(const AttentionForm& form) {
    std::vector<Extent> extents = extents_of(form, form.y, form.queries, form.value_size);
    if (std::ranges::any_of(extents, [](const Extent& extent) { return extent.count == 0; }))
        return form.y_shape.elements() == 0 ? Verdict::yes() : wrong("y does not cover its tensor");
    std::erase_if(extents, [](const Extent& extent) { return extent.count == 1; });
    std::ranges::sort(extents, {}, &Extent::step);
    int64_t covered = 1;
    for (const Extent& extent : extents) {
        if (extent.step != covered || __builtin_mul_overflow(covered, extent.count, &covered))
            return wrong("y is not dense");
    }
    if (form.y.offset != 0 || covered != form.y_shape.elements()) return wrong("y does not cover its tensor");
    return Verdict::yes();
}

Verdict read_extents(const Attributes& attributes, AttentionForm& form) {
    form.batch = attributes.integers("batch");
    const std::vector<int64_t> extents = attributes.integers("extents");
    const std::vector<int64_t> shape = attributes.integers("shape");
    if (extents.size() != 4) return wrong("extents needs 4 numbers");
    if (form.batch.size() > most_batch_axes) return wrong("batch has too many axes");
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    int64_t heads = 1, elements = 1;
    for (const std::vector<int64_t>* list : {&std::as_const(form.batch), &extents, &shape})
        if (std::ranges::any_of(*list, [](int64_t extent) { return extent < 0 || extent > most; }))
            return wrong("an extent is out of range");
    for (int64_t extent : form.batch)
        if (__builtin_mul_overflow(heads, extent, &heads)) return wrong("batch is too large");
    for (int64_t extent : shape)
        if (__builtin_mul_overflow(elements, extent, &elements)) return wrong("shape is too large");
    form.queries = extents[0];
    form.keys = extents[1];
    form.size = extents[2];
    form.value_size = extents[3];
    form.y_shape = Shape(shape);
    return Verdict::yes();
}

Verdict read_mask(const Attributes& attributes, std::span<const std::optional<TensorDesc>> src, AttentionForm& form) {
    const auto word = std::ranges::find(mask_words, attributes.text("mask_kind", "none"));
    if (word == mask_words.end()) return wrong("mask_kind is unknown");
    form.mask_kind = static_cast<AttentionForm::Mask>(word - mask_words.begin());
    const bool given = src.size() > attention_mask && src[attention_mask].has_value();
    if (given != (form.mask_kind != AttentionForm::Mask::none)) return wrong("mask_kind does not fit the inputs");
    if (!given) return Verdict::yes();
    const ElementType type = src[attention_mask]->type;
    if (type != (form.mask_kind == AttentionForm::Mask::add ? ElementType::f32 : ElementType::boolean))
        return Verdict::no(Reason::element_type, "a mask of " + std::string(to_string(type)));
    if (Verdict verdict = read_matrices(attributes, "mask", form.batch.size(), form.mask); !verdict) return verdict;
    return check_inside("mask", form.mask.offset, extents_of(form, form.mask, form.queries, form.keys),
                        src[attention_mask]->shape.elements());
}

}  // namespace

int64_t AttentionForm::heads() const {
    int64_t count = 1;
    for (int64_t extent : batch) count *= extent;
    return count;
}

int64_t AttentionForm::at(const HeadMatrices& matrices, int64_t head) const {
    int64_t offset = matrices.offset;
    for (size_t axis = batch.size(); axis-- > 0;) {
        offset += head % batch[axis] * matrices.batch[axis];
        head /= batch[axis];
    }
    return offset;
}

int64_t AttentionForm::visible(int64_t query) const {
    return causal ? std::clamp<int64_t>(query + *causal + 1, 0, keys) : keys;
}

Attributes attention_attributes(const AttentionForm& form) {
    Attributes attributes;
    attributes.set("batch", form.batch);
    attributes.set("extents", std::vector<int64_t>{form.queries, form.keys, form.size, form.value_size});
    attributes.set("shape", std::vector<int64_t>(form.y_shape.begin(), form.y_shape.end()));
    attributes.set("q", numbers_of(form.q));
    attributes.set("k", numbers_of(form.k));
    attributes.set("v", numbers_of(form.v));
    attributes.set("y", numbers_of(form.y));
    attributes.set("scale", form.scale);
    if (form.mask_kind != AttentionForm::Mask::none) {
        attributes.set("mask_kind", std::string(mask_words[static_cast<size_t>(form.mask_kind)]));
        attributes.set("mask", numbers_of(form.mask));
    }
    if (form.mask_kind == AttentionForm::Mask::keep || form.mask_kind == AttentionForm::Mask::hide)
        attributes.set("hidden", form.hidden);
    if (form.causal) attributes.set("causal", *form.causal);
    if (form.nan_to_zero) attributes.set("nan_to_zero", int64_t{1});
    return attributes;
}

Verdict read_attention(const Attributes& attributes, std::span<const std::optional<TensorDesc>> src,
                       AttentionForm& form) {
    form = {};
    if (Verdict verdict = read_extents(attributes, form); !verdict) return verdict;
    struct Operand {
        const char* name;
        HeadMatrices& matrices;
        int64_t rows, columns;
    };
    const Operand operands[] = {{"q", form.q, form.queries, form.size},
                                {"k", form.k, form.keys, form.size},
                                {"v", form.v, form.keys, form.value_size}};
    for (size_t i = 0; i < std::size(operands); ++i) {
        const auto& [name, matrices, rows, columns] = operands[i];
        if (i >= src.size() || !src[i]) return Verdict::no(Reason::shape, std::string(name) + " is absent");
        if (Verdict verdict = read_matrices(attributes, name, form.batch.size(), matrices); !verdict) return verdict;
        if (Verdict verdict = check_inside(name, matrices.offset, extents_of(form, matrices, rows, columns),
                                           src[i]->shape.elements());
            !verdict)
            return verdict;
        if (Verdict verdict = check_distinct(name, matrices, rows, columns); !verdict) return verdict;
    }
    if (Verdict verdict = read_matrices(attributes, "y", form.batch.size(), form.y); !verdict) return verdict;
    if (Verdict verdict = check_dense(form); !verdict) return verdict;
    if (Verdict verdict = read_mask(attributes, src, form); !verdict) return verdict;
    form.scale = attributes.real("scale", 1);
    form.hidden = attributes.real("hidden", 0);
    if (attributes.has("causal")) form.causal = attributes.integer("causal", 0);
    if (form.causal && (*form.causal < -most_shift || *form.causal > most_shift))
        return wrong("causal is out of range");
    form.nan_to_zero = attributes.integer("nan_to_zero", 0) != 0;
    return Verdict::yes();
}

}  // namespace headway
