// Operators that work on one axis at a time: the input as outer x length x inner, each line of `length` on its own.
#pragma once

#include <vector>

#include "ops/doubles.h"
#include "ops/op.h"

namespace headway {

struct Lines {
    int64_t outer = 1, length = 1, inner = 1;

    static Lines along(const Shape& shape, size_t axis) {
        return {shape.elements(0, axis), shape[axis], shape.elements(axis + 1, shape.rank())};
    }
    // visit(offset of the first element); elements are `inner` apart. Lines without elements are not visited: a shape
    // of a few bytes can have 2^31 of them.
    template <class F>
    void for_each(F&& visit) const {
        if (length == 0 || inner == 0) return;
        for (int64_t o = 0; o < outer; ++o)
            for (int64_t i = 0; i < inner; ++i) visit(o * length * inner + i);
    }
};

// Applies change(line) in place to each line of the values.
template <class F>
void change_lines(std::vector<double>& values, const Lines& lines, F&& change) {
    std::vector<double> line(static_cast<size_t>(lines.length));
    lines.for_each([&](int64_t first) {
        for (int64_t i = 0; i < lines.length; ++i)
            line[static_cast<size_t>(i)] = values[static_cast<size_t>(first + i * lines.inner)];
        change(line);
        for (int64_t i = 0; i < lines.length; ++i)
            values[static_cast<size_t>(first + i * lines.inner)] = line[static_cast<size_t>(i)];
    });
}

// The same for input 0, as doubles; stores the result.
template <class F>
void change_lines(const ReferenceContext& context, const Lines& lines, F&& change) {
    std::vector<double> values = doubles_of(context.in(0));
    change_lines(values, lines, change);
    store_doubles(values, context.out(0));
}

}  // namespace headway
