#include "ops/recurrent.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/doubles.h"
#include "ops/elementwise.h"
#include "ops/product.h"

namespace headway {
namespace {

int64_t direction_count(const Attributes& attributes) {
    const std::string word = attributes.text("direction", "forward");
    if (word != "forward" && word != "reverse" && word != "bidirectional")
        throw UserError("attribute direction has an unknown value");
    return word == "bidirectional" ? 2 : 1;
}

bool runs_backwards(const Attributes& attributes, int64_t direction) {
    return direction == 1 || attributes.text("direction", "forward") == "reverse";
}

void require_shape(const InferContext& context, size_t input, const Shape& wanted, const char* name) {
    if (context.has(input) && context.shape(input) != wanted)
        throw UserError(std::string(name) + " has shape " + context.shape(input).text() + " instead of " +
                        wanted.text());
}

std::vector<int64_t> sequence_lengths(const ReferenceContext& context, const Recurrent& sizes) {
    if (!context.has(4)) return std::vector<int64_t>(static_cast<size_t>(sizes.batch), sizes.steps);
    const std::vector<int64_t> lengths = context.in(4).to_int64();
    for (int64_t length : lengths)
        if (length < 0 || length > sizes.steps) throw UserError("a sequence length is " + std::to_string(length));
    return lengths;
}

// Element offset of the hidden values of a sequence in a state tensor.
int64_t state_offset(const Recurrent& sizes, int64_t direction, int64_t sequence) {
    return (sizes.batch_first ? sequence * sizes.directions + direction : direction * sizes.batch + sequence) *
           sizes.hidden;
}

int64_t output_offset(const Recurrent& sizes, int64_t step, int64_t direction, int64_t sequence) {
    if (sizes.batch_first) return ((sequence * sizes.steps + step) * sizes.directions + direction) * sizes.hidden;
    return ((step * sizes.directions + direction) * sizes.batch + sequence) * sizes.hidden;
}

std::vector<double> optional_doubles(const ReferenceContext& context, size_t index) {
    return index > 0 && context.has(index) ? doubles_of(context.in(index)) : std::vector<double>{};
}

// A row-major (rows x columns) matrix, turned.
std::vector<double> turned(const double* matrix, int64_t rows, int64_t columns) {
    std::vector<double> result = zeros(rows * columns);
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
            result[static_cast<size_t>(column * rows + row)] = matrix[row * columns + column];
    return result;
}

std::vector<double> initial_values(const std::vector<double>& all, const Recurrent& sizes, int64_t direction,
                                   int64_t sequence) {
    if (all.empty()) return std::vector<double>(static_cast<size_t>(sizes.hidden), 0);
    const auto first = all.begin() + state_offset(sizes, direction, sequence);
    return {first, first + sizes.hidden};
}

// batch x hidden at step i; zeros for sequences that have ended.
std::vector<double> hidden_values(const std::vector<RecurrentState>& states, const std::vector<int64_t>& lengths,
                                  int64_t i, int64_t hidden) {
    std::vector<double> values(states.size() * static_cast<size_t>(hidden));
    for (size_t sequence = 0; sequence < states.size(); ++sequence)
        if (i < lengths[sequence])
            std::ranges::copy(states[sequence].hidden, values.begin() + static_cast<int64_t>(sequence) * hidden);
    return values;
}

void store_state(std::vector<double>& all, const Recurrent& sizes, int64_t direction, int64_t sequence,
                 const std::vector<double>& values) {
    std::copy(values.begin(), values.end(), all.begin() + state_offset(sizes, direction, sequence));
}

}  // namespace

Recurrent Recurrent::of(const Attributes& attributes, const Shape& x, const Shape& w, int64_t gates) {
    if (x.rank() != 3 || w.rank() != 3) throw UserError("its input and weights must have three axes");
    const bool batch_first = attributes.integer("layout", 0) != 0;
    const int64_t directions = direction_count(attributes);
    if (w[0] != directions || w[1] % gates != 0 || w[2] != x[2])
        throw UserError("weights of " + w.text() + " do not fit an input of " + x.text());
    const int64_t hidden = w[1] / gates;
    if (attributes.integer("hidden_size", hidden) != hidden) throw UserError("hidden_size differs from its weights");
    return {directions, gates, batch_first ? x[1] : x[0], batch_first ? x[0] : x[1], x[2], hidden, batch_first};
}

void infer_recurrent(InferContext& context, int64_t gates) {
    const Recurrent sizes = Recurrent::of(context.attributes(), context.shape(0), context.shape(1), gates);
    require_shape(context, 2, {sizes.directions, checked_mul(gates, sizes.hidden, "gates"), sizes.hidden}, "R");
    for (size_t i : {1, 2})
        if (context.type(i) != context.type(0)) throw UserError("its operands have different types");
    infer_recurrent_states(context, sizes);
}

void infer_recurrent_states(InferContext& context, const Recurrent& sizes) {
    const int64_t d = sizes.directions;
    const int64_t h = sizes.hidden;
    const Shape state = sizes.batch_first ? Shape{sizes.batch, d, h} : Shape{d, sizes.batch, h};
    require_shape(context, 3, {d, 2 * sizes.gates * h}, "B");
    require_shape(context, 4, {sizes.batch}, "sequence_lens");
    require_shape(context, 5, state, "initial_h");
    require_shape(context, 6, state, "initial_c");
    require_shape(context, 7, {d, 3 * h}, "P");
    for (size_t i : {3, 5, 6, 7})
        if (context.has(i) && context.type(i) != context.type(0)) throw UserError("its operands have different types");
    if (context.has(4) && context.type(4) != ElementType::i32) throw UserError("sequence_lens is not i32");
    context.set_output(
        0, context.type(0),
        sizes.batch_first ? Shape{sizes.batch, sizes.steps, d, h} : Shape{sizes.steps, d, sizes.batch, h});
    context.set_output(1, context.type(0), state);
    context.set_output(2, context.type(0), state);
}

RecurrentOperands recurrent_states(const ReferenceContext& context, const Recurrent& sizes, size_t cell_input,
                                   size_t peephole_input) {
    return {.sizes = sizes,
            .x = doubles_of(context.in(0)),
            .w = {},
            .r = {},
            .bias = optional_doubles(context, 3),
            .first_hidden = optional_doubles(context, 5),
            .first_cell = optional_doubles(context, cell_input),
            .peepholes = optional_doubles(context, peephole_input),
            .lengths = sequence_lengths(context, sizes),
            .prepare = {}};
}

RecurrentOperands recurrent_operands(const ReferenceContext& context, int64_t gates, size_t cell_input,
                                     size_t peephole_input) {
    const Recurrent sizes = Recurrent::of(context.attributes, context.in(0).shape(), context.in(1).shape(), gates);
    RecurrentOperands operands = recurrent_states(context, sizes, cell_input, peephole_input);
    operands.w = doubles_of(context.in(1));
    operands.r = doubles_of(context.in(2));
    return operands;
}

void run_recurrent(const ReferenceContext& context, const RecurrentOperands& operands, const RecurrentUpdate& update) {
    const Recurrent& sizes = operands.sizes;
    const int64_t rows = sizes.gates * sizes.hidden;
    std::vector<double> x = operands.x;
    if (operands.prepare) operands.prepare(x);

    const auto states = static_cast<size_t>(sizes.directions * sizes.batch * sizes.hidden);
    std::vector<double> y(states * static_cast<size_t>(sizes.steps));
    std::vector<double> last_hidden(states);
    std::vector<double> last_cell(states);
    std::vector<double> from_input = zeros(sizes.steps * sizes.batch * rows);
    std::vector<double> products = zeros(sizes.batch * rows);
    for (int64_t direction = 0; direction < sizes.directions; ++direction) {
        const RecurrentWeights weights{
            operands.w.data() + direction * rows * sizes.input, operands.r.data() + direction * rows * sizes.hidden,
            operands.bias.empty() ? nullptr : operands.bias.data() + direction * 2 * rows,
            operands.peepholes.empty() ? nullptr : operands.peepholes.data() + direction * 3 * sizes.hidden};
        multiply(x.data(), turned(weights.w, rows, sizes.input).data(), from_input.data(), sizes.steps * sizes.batch,
                 rows, sizes.input);
        std::vector<RecurrentState> all;
        for (int64_t sequence = 0; sequence < sizes.batch; ++sequence)
            all.push_back({initial_values(operands.first_hidden, sizes, direction, sequence),
                           initial_values(operands.first_cell, sizes, direction, sequence)});
        const int64_t longest = sizes.batch == 0 ? 0 : *std::ranges::max_element(operands.lengths);
        for (int64_t i = 0; i < longest; ++i) {
            std::vector<double> hidden = hidden_values(all, operands.lengths, i, sizes.hidden);
            if (operands.prepare) operands.prepare(hidden);
            multiply(weights.r, turned(hidden.data(), sizes.batch, sizes.hidden).data(), products.data(), rows,
                     sizes.batch, sizes.hidden);
            const std::vector<double> from_hidden = turned(products.data(), rows, sizes.batch);
            for (int64_t sequence = 0; sequence < sizes.batch; ++sequence) {
                const int64_t length = operands.lengths[static_cast<size_t>(sequence)];
                if (i >= length) continue;
                RecurrentState& state = all[static_cast<size_t>(sequence)];
                const int64_t step = runs_backwards(context.attributes, direction) ? length - 1 - i : i;
                const int64_t position =
                    sizes.batch_first ? sequence * sizes.steps + step : step * sizes.batch + sequence;
                update(direction, weights, from_input.data() + position * rows, from_hidden.data() + sequence * rows,
                       state);
                std::copy(state.hidden.begin(), state.hidden.end(),
                          y.begin() + output_offset(sizes, step, direction, sequence));
            }
        }
        for (int64_t sequence = 0; sequence < sizes.batch; ++sequence) {
            const RecurrentState& state = all[static_cast<size_t>(sequence)];
            store_state(last_hidden, sizes, direction, sequence, state.hidden);
            store_state(last_cell, sizes, direction, sequence, state.cell);
        }
    }
    if (context.wants(0)) store_doubles(y, context.out(0));
    if (context.wants(1)) store_doubles(last_hidden, context.out(1));
    if (context.wants(2)) store_doubles(last_cell, context.out(2));
}

}  // namespace headway
